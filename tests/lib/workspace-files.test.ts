import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { UserError } from "../../src/core/errors.ts";
import { createWorkspaceFiles, type WorkspaceFilesOptions } from "../../src/lib/workspace-files.ts";
import { makeFolder, system, unpinned } from "../tools/fixture.ts";

const base = makeFolder();
const workspace = join(base, "ws");
const config = join(base, "config.json");

beforeAll(() => {
  for (const folder of [
    "ws/notes/deep",
    "ws/sessions",
    "ws/cron",
    "ws-other",
    "extra",
    "ws/.nanobot/tool-results/mine",
  ]) {
    mkdirSync(join(base, folder), { recursive: true });
  }
  mkdirSync(join(base, "ws/.nanobot/tool-results/theirs"));
  for (const file of ["ws/a.txt", "ws-other/secret", "config.json", "ws/.nanobot/inbox.jsonl"]) {
    writeFileSync(join(base, file), file);
  }
  const link = (target: string, path: string) => symlinkSync(target, join(workspace, path));
  link(".", ".nanobot/linked");
  link("../..", ".nanobot/away");
  link("/etc", "etc");
  link("../ws-other", "sibling");
  link("notes", "inner");
  link("chain2", "chain1");
  link("chain3", "chain2");
  link("/etc/passwd", "chain3");
  link("loop2", "loop1");
  link("loop1", "loop2");
  link("fresh/new.txt", "dangling-inside");
  link("../ws-other/new.txt", "dangling-outside");
  link("sessions", "log");
  link("../config.json", "settings");
  link("../../../config.json", "notes/deep/up");
  link("missing-folder", "dangling-folder");
  symlinkSync("../../inbox.jsonl", join(workspace, ".nanobot/tool-results/mine/out"));
});

function create(options: Partial<WorkspaceFilesOptions> = {}) {
  return createWorkspaceFiles({
    system,
    pinned: unpinned(system),
    workspace,
    home: base,
    restrict: true,
    hidden: [config, ".nanobot"],
    protectedPaths: ["sessions/", ".nanobot/", "cron/jobs.json"],
    ownResults: ".nanobot/tool-results/mine",
    ...options,
  });
}

/** The message of the refusal, or the path when there was none. */
async function refusal(promise: Promise<string>): Promise<string> {
  try {
    return `not refused: ${await promise}`;
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}

describe("resolve() goes to the real place", () => {
  test.each([
    ["a.txt", "a.txt"],
    ["./notes//deep/", "notes/deep"],
    ["new/folder/file.txt", "new/folder/file.txt"],
    ["inner/x.md", "notes/x.md"],
    ["inner/../a.txt", "a.txt"],
    ["notes/deep/../../a.txt", "a.txt"],
    ["dangling-inside", "fresh/new.txt"],
    ["dangling-folder/x", "missing-folder/x"],
    ["%2e%2e/ws-other/secret", "%2e%2e/ws-other/secret"],
    ["~root/x", "~root/x"],
    ["$HOME/x", "$HOME/x"],
    ["...", "..."],
    [" ", " "],
    [".", ""],
    ["../ws/a.txt", "a.txt"],
  ])("resolve() takes %j to %j of the workspace", async (path, expected) => {
    const real: string = await create().resolve(path, "write");
    expect(real).toBe(join(workspace, expected).replace(/\/$/, ""));
  });

  test("resolve() takes an absolute path inside the workspace", async () => {
    expect<string>(await create().resolve(join(workspace, "a.txt"), "read")).toBe(join(workspace, "a.txt"));
  });

  test("resolve() takes ~/ as the home folder", async () => {
    expect<string>(await create().resolve("~/ws/a.txt", "read")).toBe(join(workspace, "a.txt"));
    expect<string>(await create({ restrict: false }).resolve("~", "read")).toBe(base);
  });

  test("resolve() follows a link before it goes up from it, as the kernel does", async () => {
    const files = create({ restrict: false });
    expect<string>(await files.resolve("sibling/../ws-other/secret", "read")).toBe(
      join(base, "ws-other/secret"),
    );
    expect<string>(await files.resolve("etc/../etc/passwd", "read")).toBe(realpathSync("/etc/passwd"));
  });
});

describe("resolve() refuses what leads outside", () => {
  test.each([
    "../ws-other/secret",
    "..",
    "/etc/passwd",
    "/",
    "~/ws-other/secret",
    "~",
    "etc/passwd",
    "etc/new-file",
    "etc/../etc/passwd",
    "sibling/secret",
    "chain1",
    "notes/deep/up",
    "dangling-outside",
    "inner/../../ws-other/secret",
    "notes/../../ws-other/secret",
    "../ws-other",
    "../WS-OTHER/x",
  ])("resolve() refuses %j", async (path) => {
    for (const access of ["read", "write"] as const) {
      expect(await refusal(create().resolve(path, access))).toContain("leads outside the workspace");
    }
  });

  test("resolve() refuses a sibling whose name begins with the workspace's", async () => {
    expect(await refusal(create().resolve(`${workspace}-other/secret`, "read"))).toContain("leads outside");
  });

  test("resolve() takes the same paths when the workspace is no limit", async () => {
    expect<string>(await create({ restrict: false }).resolve("sibling/secret", "write")).toBe(
      join(base, "ws-other/secret"),
    );
  });

  test("resolve() takes paths below an allowed folder and not its neighbours", async () => {
    const files = create({ allowedPaths: ["~/extra"] });
    expect<string>(await files.resolve("../extra/x", "write")).toBe(join(base, "extra/x"));
    expect(await refusal(files.resolve("../extra2/x", "read"))).toContain("leads outside");
  });

  test("resolve() follows an allowed folder that is a link", async () => {
    const files = create({ allowedPaths: ["sibling"] });
    expect<string>(await files.resolve("sibling/secret", "read")).toBe(join(base, "ws-other/secret"));
  });
});

describe("resolve() refuses what is no path", () => {
  test.each([
    ["", "name a path"],
    ["a\0.txt", "no path can contain"],
    ["a\ud800", "no path can contain"],
    ["a/".repeat(5000), "longer than 4096"],
    ["n".repeat(300), "a name in it is too long"],
    ["loop1", "circle"],
    ["loop1/x", "circle"],
    ["a.txt/x", "not a folder"],
    ["a.txt/", "not a folder"],
    ["a.txt/../a.txt", "not a folder"],
    ["missing/../a.txt", "there is nothing there"],
  ])("resolve() refuses %j", async (path, reason) => {
    const message = await refusal(create().resolve(path, "write"));
    expect(message).toContain(reason);
    expect(message.length).toBeLessThan(500);
  });

  test("resolve() refuses ~/ when nobody knows the home folder", async () => {
    expect(await refusal(create({ home: undefined }).resolve("~/x", "read"))).toContain(
      "home folder is not known",
    );
  });
});

describe("resolve() keeps nanobot's own files", () => {
  const unrestricted = () => create({ restrict: false });

  test.each([
    "sessions/x.jsonl",
    "sessions",
    "log/x.jsonl",
    "SESSIONS/x.jsonl",
    "ſessions/x",
    "cron/jobs.json",
    "cron",
  ])("resolve() refuses to write %j whether or not the workspace is the limit", async (path) => {
    for (const files of [create(), unrestricted()]) {
      expect(await refusal(files.resolve(path, "write"))).toContain("only nanobot itself writes there");
      expect(await refusal(files.resolve(path, "read"))).toStartWith("not refused");
    }
  });

  test.each(["cron/other.json", "session", "sessions2/x", "notes/sessions/x"])(
    "resolve() takes %j, which only resembles one of them",
    async (path) => {
      expect<string>(await create().resolve(path, "write")).toBe(join(workspace, path));
    },
  );

  test.each([
    ".nanobot",
    ".nanobot/inbox.jsonl",
    ".NanoBot/inbox.jsonl",
    ".nanobot/tool-results/theirs/x",
    ".nanobot/tool-results/mine/../theirs/x",
    ".nanobot/tool-results/mine/out",
    ".nanobot/tool-results/mine2",
    "settings",
    "../config.json",
  ])("resolve() refuses to read and write %j without a limit", async (path) => {
    for (const access of ["read", "write"] as const) {
      expect(await refusal(unrestricted().resolve(path, access))).toContain("closed to tools");
    }
  });

  // Only Linux has such a folder.
  test
    .if(process.platform === "linux")
    .each(["/proc/self/environ", "/proc/self/root/proc/thread-self/environ", `/proc/${process.pid}/mem`])(
    "resolve() refuses %j, where this process keeps its secrets",
    async (path) => {
      expect(await refusal(unrestricted().resolve(path, "read"))).toContain("closed to tools");
    },
  );

  test("resolve() lets a session read its own tool results and not write them", async () => {
    const path = ".nanobot/tool-results/mine/call.txt";
    expect<string>(await create().resolve(path, "read")).toBe(join(workspace, path));
    expect(await refusal(create().resolve(path, "write"))).toContain("closed to tools");
    expect(await refusal(create({ ownResults: undefined }).resolve(path, "read"))).toContain(
      "closed to tools",
    );
  });

  test("resolve() lets everybody read the one place that is open, and nobody write there", async () => {
    const files = create({ readable: join(workspace, ".nanobot/skills"), ownResults: undefined });
    for (const path of [".nanobot/skills/0f/x/SKILL.md", ".nanobot/skills"]) {
      expect<string>(await files.resolve(path, "read")).toBe(join(workspace, path));
      expect(await refusal(files.resolve(path, "write"))).toContain("closed to tools");
    }
    for (const path of [
      ".nanobot",
      ".nanobot/inbox.jsonl",
      ".nanobot/skillset/x",
      ".nanobot/tool-results/../inbox.jsonl",
    ])
      expect(await refusal(files.resolve(path, "read"))).toContain("closed to tools");
    const path = ".nanobot/tool-results/mine/call.txt";
    expect(await refusal(files.resolve(path, "read"))).toContain("closed to tools");
    expect<string>(await create({ readable: ".nanobot/skills" }).resolve(path, "read")).toBe(
      join(workspace, path),
    );
  });

  test("resolve() does not open what a link in the place of an open one leads to", async () => {
    for (const [place, path] of [
      [".nanobot/linked", ".nanobot/linked/inbox.jsonl"],
      [".nanobot/linked", ".nanobot/inbox.jsonl"],
      [".nanobot/away", ".nanobot/away/config.json"],
    ] as const)
      for (const opened of [{ readable: place }, { readable: join(workspace, place) }, { ownResults: place }])
        expect(await refusal(create({ restrict: false, ...opened }).resolve(path, "read"))).toContain(
          "closed to tools",
        );
  });

  test("resolve() reads what stands in for a file that is not there, and writes where it was told to", async () => {
    const asked: string[] = [];
    const files = create({
      readable: ".nanobot/skills",
      standIn: async (path) => {
        asked.push(path);
        return path.startsWith("skills/x/") ? join(workspace, ".nanobot", path) : undefined;
      },
    });
    expect<string>(await files.resolve("skills/x/SKILL.md", "read")).toBe(
      join(workspace, ".nanobot/skills/x/SKILL.md"),
    );
    expect<string>(await files.resolve("skills/x/SKILL.md", "write")).toBe(
      join(workspace, "skills/x/SKILL.md"),
    );
    expect<string>(await files.resolve("skills/y/SKILL.md", "read")).toBe(
      join(workspace, "skills/y/SKILL.md"),
    );
    expect<string>(await files.resolve("a.txt", "read")).toBe(join(workspace, "a.txt"));
    expect<string>(await files.resolve(".", "read")).toBe(workspace);
    expect(asked).toEqual(["skills/x/SKILL.md", "skills/y/SKILL.md"]);
  });

  test("resolve() judges what stands in as if it had been named itself", async () => {
    const files = (place: string) => create({ standIn: async () => place });
    for (const place of [
      join(workspace, ".nanobot/inbox.jsonl"),
      config,
      "/etc/passwd",
      join(workspace, "sibling/secret"),
    ])
      expect(await refusal(files(place).resolve("skills/x", "read"))).toStartWith('Cannot read "skills/x"');
  });

  test("resolve() refuses the real place of a protected folder that was moved away", async () => {
    const files = create({ restrict: false, protectedPaths: ["sibling"] });
    expect(await refusal(files.resolve(join(base, "ws-other/x"), "write"))).toContain("only nanobot itself");
  });

  test("resolve() hides the backups of a hidden file as well", async () => {
    const open = create({ restrict: false });
    expect(await refusal(open.resolve(`${config}.bak-20261130T090000000Z`, "read"))).toContain(
      "closed to tools",
    );
    expect(await refusal(open.resolve(`${config}.txt`, "read"))).toStartWith("not refused");
  });

  const temporary = ".nanobot-4711-0f8fad5b-d9cb-469f-a165-70867728950e.tmp";
  test.each([temporary, temporary.toUpperCase(), `notes/${temporary}`, `../${temporary}`])(
    "resolve() refuses %j, a file that is being written, to readers and writers",
    async (path) => {
      for (const access of ["read", "write"] as const) {
        expect(await refusal(unrestricted().resolve(path, access))).toContain("closed to tools");
      }
    },
  );

  test.each([`a${temporary}`, `${temporary}.txt`, ".nanobot-notes.tmp", `${temporary}/x`])(
    "resolve() takes %j, which only resembles such a file",
    async (path) => {
      expect<string>(await create().resolve(path, "write")).toBe(join(workspace, path));
    },
  );

  test("resolve() refuses everything while a hidden path cannot be judged", async () => {
    const homeless = create({ home: undefined, hidden: ["~/config.json"] });
    expect(await refusal(homeless.resolve("a.txt", "read"))).toContain("home folder is not known");
    expect(await refusal(create({ hidden: ["loop1"] }).resolve("a.txt", "read"))).toContain("circle");
  });
});

test("resolve() never leaves the workspace, whatever the path", async () => {
  const name = fc.constantFrom(
    ...[
      "",
      ".",
      "..",
      "...",
      "~",
      "a.txt",
      "notes",
      "deep",
      "up",
      "etc",
      "passwd",
      "sibling",
      "secret",
      "inner",
    ],
    ...[
      "chain1",
      "chain3",
      "loop1",
      "dangling-inside",
      "dangling-outside",
      "dangling-folder",
      "%2e%2e",
      "ws",
      "ws-other",
    ],
    ...[
      "sessions",
      "log",
      ".nanobot",
      "tool-results",
      "mine",
      "out",
      "config.json",
      "settings",
      "proc",
      "self",
      "root",
    ],
  );
  const path = fc.oneof(
    fc
      .array(fc.oneof({ weight: 9, arbitrary: name }, fc.string({ unit: "binary" })), { maxLength: 8 })
      .map((segments) => segments.join("/")),
    fc.string({ unit: "binary" }),
  );
  const start = fc.constantFrom("", "/", "~/", `${workspace}/`, `${base}/`);
  let resolved = 0;
  await fc.assert(
    fc.asyncProperty(
      start,
      path,
      fc.constantFrom("read" as const, "write" as const),
      async (prefix, rest, access) => {
        let real: string;
        try {
          real = await create().resolve(prefix + rest, access);
        } catch (error) {
          expect(error).toBeInstanceOf(UserError);
          return;
        }
        resolved++;
        expect(real === workspace || real.startsWith(`${workspace}/`)).toBe(true);
        expect(real.split("/")).not.toContain("..");
        // What exists of it holds no link: the system itself would arrive at the same place.
        for (let at = real; at.length >= workspace.length; at = at.slice(0, at.lastIndexOf("/"))) {
          const stat = await system.linkStat(at).catch(() => undefined);
          if (stat !== undefined) expect(await system.realPath(at)).toBe(at);
        }
        const inside = real.slice(workspace.length + 1);
        if (access === "write") expect(inside).not.toMatch(/^(sessions|\.nanobot)(\/|$)/);
        else expect(inside).not.toMatch(/^\.nanobot(\/|$)(?!tool-results\/mine(\/|$))/);
      },
    ),
    { numRuns: 2000 },
  );
  // Otherwise the property would hold for a resolve() that refuses everything.
  expect(resolved).toBeGreaterThan(100);
});

describe("display()", () => {
  test("display() shortens what lies in the workspace", async () => {
    const files = create({ restrict: false });
    expect(files.display(await files.resolve("inner/x.md", "read"))).toBe("notes/x.md");
    expect(files.display(workspace)).toBe(".");
  });

  test("display() leaves the rest absolute", () => {
    expect(create().display(`${workspace}-other/secret`)).toBe(`${workspace}-other/secret`);
  });
});

/** The built-in skills in the workspace: whole, runnable, and what they are in the executable. */

import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { FileSystem } from "../../src/core/platform.ts";
import { tempFolder } from "../fakes/temp.ts";
import { described, put, setUp } from "./fixture.ts";

const image = Uint8Array.from({ length: 300 }, (_, index) => index % 256);
const builtIn = {
  "github/SKILL.md": described("github"),
  "github/references/deep/er/more.md": "# More",
  "github/scripts/list.sh": "echo listed",
  "github/assets/picture.png": image,
  "github/tool": "#!/bin/sh\necho tool\n",
  "cron/SKILL.md": described("cron"),
};
const paths = Object.keys(builtIn).sort();

function prepare(options: Parameters<typeof setUp>[0] = {}) {
  const made = setUp({ builtIn, ...options });
  const all = join(made.workspace, ".nanobot/skills");
  /** Below the folder that is named by the digest. */
  async function root(): Promise<string> {
    const skill = (await made.skills.list()).find(({ source }) => source === "built-in");
    return join(made.workspace, skill?.path ?? "", "../..");
  }
  return { ...made, all, root };
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();
}

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

function refusing(files: FileSystem, code: string, methods: readonly (keyof FileSystem)[]): FileSystem {
  const fail = () => Promise.reject(Object.assign(new Error(code), { code }));
  return { ...files, ...Object.fromEntries(methods.map((method) => [method, fail])) };
}

describe("built-in skills", () => {
  test("are extracted as a whole when a path is first needed, and not before", async () => {
    const { skills, all, root } = prepare();
    expect(await skills.text("github")).toContain("Do it well.");
    expect(await skills.named("nothing")).toBe("");
    expect(existsSync(all)).toBe(false);
    const folder = await root();
    expect(filesIn(folder)).toEqual(paths);
    expect(readdirSync(all)).toEqual([folder.slice(all.length + 1)]);
    for (const [path, content] of Object.entries(builtIn)) {
      expect(Buffer.from(readFileSync(join(folder, path)))).toEqual(Buffer.from(content));
    }
    expect(mode(all)).toBe("700");
    expect(mode(join(folder, "github/references/deep"))).toBe("700");
    expect(mode(join(folder, "github/SKILL.md"))).toBe("600");
    expect(mode(join(folder, "github/assets/picture.png"))).toBe("600");
    expect(mode(join(folder, "github/scripts/list.sh"))).toBe("700");
    expect(mode(join(folder, "github/tool"))).toBe("700");
  });

  test("are not written again while nothing has changed", async () => {
    const { again, files, root } = prepare();
    await root();
    const skills = again({ files: refusing(files, "EROFS", ["replace", "makeFolder", "rename", "remove"]) });
    const { summary } = await skills.prompt();
    expect(summary).toContain("`.nanobot/skills/");
    expect(await skills.prompt()).toMatchObject({ summary });
  });

  test("take another folder when anything in them differs, and those of other versions are removed", async () => {
    const { putBuiltIn, again, all, root, workspace } = prepare();
    const first = await root();
    put(join(all, "0123456789abcdef/old/SKILL.md"), "old");
    putBuiltIn("github/references/deep/er/more.md", "# Other");
    const [skill] = await again().list();
    const second = join(workspace, skill?.path ?? "", "../..");
    expect(second).not.toBe(first);
    expect(readdirSync(all)).toEqual([second.slice(all.length + 1)]);
    expect(filesIn(second)).toEqual(paths);
  });

  test("leave alone what another process is about to make, unless it was cut off long ago", async () => {
    const { all, root, clock } = prepare();
    const [fresh, stale] = ["0123456789abcdef.new-1", "0123456789abcdef.new-2"].map((name) =>
      join(all, name),
    );
    for (const path of [fresh, stale]) mkdirSync(path ?? "", { recursive: true });
    utimesSync(fresh ?? "", clock.now() / 1000, clock.now() / 1000);
    utimesSync(stale ?? "", clock.now() / 1000 - 7_200, clock.now() / 1000 - 7_200);
    await root();
    expect([fresh, stale].map((path) => existsSync(path ?? ""))).toEqual([true, false]);
  });

  const damages: Readonly<Record<string, (folder: string) => void>> = {
    "a file of another content": (folder) =>
      writeFileSync(join(folder, "github/scripts/list.sh"), "echo hacked"),
    "a file of the same length": (folder) =>
      writeFileSync(join(folder, "github/scripts/list.sh"), "echo hacked".slice(0, 11)),
    "a missing file": (folder) => rmSync(join(folder, "cron/SKILL.md")),
    "an empty file": (folder) => writeFileSync(join(folder, "github/tool"), ""),
    "one file more": (folder) => put(join(folder, "github/scripts/more.sh"), "echo more"),
    "one folder more": (folder) => mkdirSync(join(folder, "evil")),
    "a script that cannot be run": (folder) => chmodSync(join(folder, "github/tool"), 0o600),
    "a link in the place of a file": (folder) => {
      rmSync(join(folder, "github/SKILL.md"));
      symlinkSync("../../../../secret", join(folder, "github/SKILL.md"));
    },
    "a link in the place of a folder": (folder) => {
      renameSync(join(folder, "github"), join(folder, "../../moved"));
      symlinkSync("../../moved", join(folder, "github"));
    },
    "a file in the place of all": (folder) => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, "");
    },
    "nothing in the place of all": (folder) => rmSync(join(folder, ".."), { recursive: true }),
  };

  for (const [what, damage] of Object.entries(damages)) {
    for (const when of ["before a process starts", "while it runs"]) {
      test(`are repaired: ${what}, ${when}`, async () => {
        const { skills, again, all, root, workspace } = prepare();
        const folder = await root();
        const secret = put(join(workspace, "secret"), "untouched");
        damage(folder);
        await (when === "while it runs" ? skills : again()).prompt();
        expect(filesIn(folder)).toEqual(paths);
        for (const [path, content] of Object.entries(builtIn)) {
          expect(Buffer.from(readFileSync(join(folder, path)))).toEqual(Buffer.from(content));
        }
        expect(mode(join(folder, "github/tool"))).toBe("700");
        expect(readdirSync(all)).toHaveLength(1);
        expect(readFileSync(secret, "utf8")).toBe("untouched");
      });
    }
  }

  test("are extracted once by processes that start together", async () => {
    const { again, all, workspace, log } = prepare();
    const processes = Array.from({ length: 6 }, () => again());
    const prompts = await Promise.all(processes.map((one) => one.prompt()));
    expect(new Set(prompts.map(({ summary }) => summary)).size).toBe(1);
    expect(readdirSync(all)).toHaveLength(1);
    expect(filesIn(join(all, readdirSync(all)[0] ?? ""))).toEqual(paths);
    expect(log.lines).toEqual([]);
    expect(readdirSync(workspace)).toEqual([".nanobot"]);
  });

  test("are repaired once by processes that find them damaged together", async () => {
    const { again, all, root, log } = prepare();
    const folder = await root();
    rmSync(join(folder, "cron"), { recursive: true });
    await Promise.all(Array.from({ length: 6 }, () => again().prompt()));
    expect(readdirSync(all)).toHaveLength(1);
    expect(filesIn(folder)).toEqual(paths);
    expect(log.lines).toEqual([]);
  });

  test("leave nothing half made where writing ends in the middle", async () => {
    const { again, files, all, log } = prepare();
    let left = 3;
    const full: FileSystem = {
      ...files,
      replace: (path, bytes, options) =>
        left-- > 0
          ? files.replace(path, bytes, options)
          : Promise.reject(Object.assign(new Error("ENOSPC"), { code: "ENOSPC" })),
    };
    expect((await again({ files: full }).prompt()).summary).toContain("`skills/github/SKILL.md`");
    expect(readdirSync(all)).toEqual([]);
    expect(log.lines).toHaveLength(1);
  });

  test("are named by their plain paths in a read-only workspace, which is reported once", async () => {
    const { again, files, log, clock, all } = prepare();
    let tries = 0;
    const skills = again({
      files: {
        ...refusing(files, "EROFS", ["replace", "rename"]),
        makeFolder() {
          tries++;
          return Promise.reject(Object.assign(new Error("EROFS"), { code: "EROFS" }));
        },
      },
    });
    const first = await skills.prompt();
    expect(first.summary).toContain("- **github** — About github. `skills/github/SKILL.md`");
    expect(await skills.prompt()).toBe(first);
    expect(await skills.text("github")).toContain("Do it well.");
    expect(await skills.named("$github")).toContain("whose folder is `skills/github`");
    expect(await skills.standIn("skills/github/SKILL.md")).toBeUndefined();
    expect(tries).toBe(1);
    await clock.advance(60_000);
    await skills.prompt();
    expect(tries).toBe(2);
    expect(log.lines).toEqual([
      expect.stringContaining("warn Could not put the built-in skills into the workspace"),
    ]);
    expect(existsSync(all)).toBe(false);
  });

  test("are not put where a link in the place of their folder leads", async () => {
    const { skills, all, log } = prepare();
    const elsewhere = tempFolder();
    mkdirSync(join(all, ".."));
    symlinkSync(elsewhere, all);
    expect((await skills.prompt()).summary).toContain("`skills/github/SKILL.md`");
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(log.lines.join()).toContain("is not a folder");
  });

  test("make no workspace where there is none", async () => {
    const workspace = join(tempFolder(), "not-yet");
    const { skills, log } = prepare({ workspace });
    expect((await skills.prompt()).summary).toContain("`skills/github/SKILL.md`");
    expect(existsSync(workspace)).toBe(false);
    expect(log.lines).toEqual([]);
  });

  test("are not extracted when none of them is there to be used", async () => {
    const { skills, all } = prepare({ disabled: ["github", "cron"] });
    expect(await skills.list()).toEqual([]);
    expect(existsSync(all)).toBe(false);
  });
});

describe("standIn()", () => {
  test("standIn() says where a file of a built-in skill is", async () => {
    const { skills, root } = prepare({ own: { "mine/SKILL.md": described("mine") } });
    const folder = await root();
    expect(await skills.standIn("skills/github/SKILL.md")).toBe(join(folder, "github/SKILL.md"));
    expect(await skills.standIn("skills/github")).toBe(join(folder, "github"));
    for (const path of ["skills", "notes/github/SKILL.md", "skills/mine/x.md", "skills/none/SKILL.md", ""]) {
      expect([path, await skills.standIn(path)]).toEqual([path, undefined]);
    }
  });

  test("standIn() has nothing for a skill that is disabled, or that the workspace has itself", async () => {
    const { skills } = prepare({ own: { "cron/SKILL.md": described("cron") }, disabled: ["github"] });
    expect(await skills.standIn("skills/github/SKILL.md")).toBeUndefined();
    expect(await skills.standIn("skills/cron/references/x.md")).toBeUndefined();
  });
});

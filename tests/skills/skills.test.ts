/** Which skills there are, and what of them the model and the owner are told. */

import { describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { createPinnedFiles } from "../../src/platform/pinned-files.ts";
import { tempFolder } from "../fakes/temp.ts";
import { described, put, setUp, skillFile } from "./fixture.ts";
import { published } from "./published.ts";

describe("createSkills() finds skills", () => {
  test("list() says nothing of a workspace without any", async () => {
    const { skills, log } = setUp();
    expect(await skills.list()).toEqual([]);
    expect(await skills.prompt()).toEqual({ active: "", summary: "" });
    expect(await skills.named("$anything")).toBe("");
    expect(log.lines).toEqual([]);
  });

  test("list() has those of the workspace over the built-in ones, by name", async () => {
    const { skills, again } = setUp({
      own: { "weather/SKILL.md": described("weather", "Mine."), "zebra/SKILL.md": described("zebra") },
      builtIn: { "weather/SKILL.md": described("weather"), "cron/SKILL.md": described("cron") },
    });
    const list = await skills.list();
    expect(list.map(({ name, source, description }) => [name, source, description])).toEqual([
      ["cron", "built-in", "About cron."],
      ["weather", "workspace", "Mine."],
      ["zebra", "workspace", "About zebra."],
    ]);
    expect(list.map(({ path }) => path)).toEqual([
      expect.stringMatching(/^\.nanobot\/skills\/[0-9a-f]{16}\/cron\/SKILL\.md$/) as unknown as string,
      "skills/weather/SKILL.md",
      "skills/zebra/SKILL.md",
    ]);
    expect((await again({ disabled: [" weather", "cron"] }).list()).map(({ name }) => name)).toEqual([
      "zebra",
    ]);
    for (const disabled of [
      ["WEATHER", "Cron"],
      ["ｗeather\n", "CRON "],
      ["weather", "cron", "", "*", "ze"],
    ])
      expect((await again({ disabled }).list()).map(({ name }) => name)).toEqual(["zebra"]);
  });

  test("list() takes no notice of what is no skill", async () => {
    const { skills, log, workspace } = setUp({
      own: {
        "README.md": "about",
        "draft/notes.md": "not yet",
        ".git/SKILL.md": described("git"),
        "good/SKILL.md": described("good"),
      },
    });
    symlinkSync("good", join(workspace, "skills/same"));
    expect((await skills.list()).map(({ name }) => name)).toEqual(["good", "same"]);
    expect(log.lines).toEqual([]);
  });

  test("list() takes a file that is called skill.md", async () => {
    const { skills } = setUp({ own: { "small/skill.md": described("small") } });
    expect(await skills.list()).toMatchObject([
      { name: "small", path: "skills/small/skill.md", problems: [] },
    ]);
  });

  test("list() keeps to 200 skills and says so once", async () => {
    const own = Object.fromEntries(
      Array.from({ length: 205 }, (_, index) => [`s${index}/SKILL.md`, described(`s${index}`)]),
    );
    const { skills, log } = setUp({ own, builtIn: { "cron/SKILL.md": described("cron") } });
    expect(await skills.list()).toHaveLength(201);
    await skills.list();
    expect(log.lines).toEqual(["warn There are more skills than are used 200"]);
  });

  test("list() leaves out a folder whose name would break the prompt, and says so", async () => {
    const { skills, log } = setUp({
      own: {
        "a`b/SKILL.md": described("x"),
        "two\nlines/SKILL.md": described("x"),
        "turn\u202ear/SKILL.md": described("x"),
        "good/SKILL.md": described("good"),
      },
    });
    expect((await skills.list()).map(({ name }) => name)).toEqual(["good"]);
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toContain("the characters in its folder's name");
  });
});

describe("whatever is wrong with a skill costs that one", () => {
  const good = { "good/SKILL.md": described("good") };

  async function broken(prepare: (workspace: string) => void) {
    const { skills, workspace } = setUp({ own: good });
    prepare(workspace);
    const list = await skills.list();
    const { summary, active } = await skills.prompt();
    expect(list.map(({ name }) => name)).toEqual(["bad", "good"]);
    expect(summary).toContain("**good**");
    expect(`${active}${summary}${await skills.named("$bad")}`).not.toContain("bad");
    expect(await skills.text("bad")).toBeUndefined();
    expect(list[0]?.missing).toEqual(["a SKILL.md that can be used"]);
    return list[0]?.problems.join();
  }

  test("a folder that leads out of the workspace is refused", async () => {
    const outside = tempFolder();
    put(join(outside, "SKILL.md"), described("bad", "secret"));
    const problem = await broken((workspace) => symlinkSync(outside, join(workspace, "skills/bad")));
    expect(problem).toContain("leads out of the workspace");
  });

  test("a file that leads out of the workspace, or to nanobot's own, is refused", async () => {
    const outside = put(join(tempFolder(), "SKILL.md"), described("bad", "secret"));
    for (const target of [outside, "../../.nanobot/SKILL.md"]) {
      const problem = await broken((workspace) => {
        put(join(workspace, ".nanobot/SKILL.md"), "secret");
        mkdirSync(join(workspace, "skills/bad"));
        symlinkSync(target, join(workspace, "skills/bad/SKILL.md"));
      });
      expect(problem).toContain("leads out of the workspace");
    }
  });

  test("a file that is a link to a file of another name is refused, since it could be the configuration", async () => {
    const problem = await broken((workspace) => {
      put(join(workspace, "config.json"), "secret");
      mkdirSync(join(workspace, "skills/bad"));
      symlinkSync("../../config.json", join(workspace, "skills/bad/SKILL.md"));
    });
    expect(problem).toContain("leads to something else");
  });

  test("a link to nothing, one in a circle, a folder and a pipe are refused", async () => {
    const ways: readonly ((path: string) => void)[] = [
      (path) => symlinkSync("nowhere/SKILL.md", path),
      (path) => symlinkSync("SKILL.md", path),
      (path) => mkdirSync(path),
      (path) => void Bun.spawnSync(["mkfifo", path]),
    ];
    for (const way of ways) {
      const problem = await broken((workspace) => {
        mkdirSync(join(workspace, "skills/bad"));
        way(join(workspace, "skills/bad/SKILL.md"));
      });
      expect(problem).toStartWith("its SKILL.md cannot be used: ");
    }
  });

  test("a folder that is closed is refused", async () => {
    const { again, files } = setUp({ own: { ...good, "bad/SKILL.md": described("bad") } });
    // Whoever runs the tests may be let in everywhere.
    const skills = again({
      files: {
        ...files,
        linkStat: (path) =>
          path.includes("/bad/")
            ? Promise.reject(Object.assign(new Error("EACCES"), { code: "EACCES" }))
            : files.linkStat(path),
      },
    });
    const list = await skills.list();
    expect(list.map(({ name }) => name)).toEqual(["bad", "good"]);
    expect(list[0]?.problems.join()).toContain("permission denied");
    expect((await skills.prompt()).summary).not.toContain("**bad**");
  });

  test("a file that vanishes or becomes a link while it is read is refused", async () => {
    const pinned = createPinnedFiles({ os: process.platform });
    const { again } = setUp({ own: { ...good, "bad/SKILL.md": described("bad") } });
    const skills = again({
      pinned: {
        read: (path, range) =>
          path.includes("bad")
            ? Promise.reject(Object.assign(new Error("ESTALE"), { code: "ESTALE" }))
            : pinned.read(path, range),
      },
    });
    expect((await skills.list())[0]?.problems.join()).toContain("the path was changed meanwhile");
  });

  test("a huge file is read to a bound", async () => {
    const { skills } = setUp({
      own: { "big/SKILL.md": `${described("big")}${"x".repeat(1_000_000)}`, ...good },
    });
    expect((await skills.list())[0]).toMatchObject({
      name: "big",
      description: "About big.",
      problems: ["its SKILL.md is longer than 256 KiB, and the rest is not read"],
    });
    expect((await skills.text("big"))?.length).toBeLessThan(256 * 1024);
    expect((await skills.named("$big")).length).toBeLessThan(25_000);
  });

  test("a skills folder that is a file, or leads away, costs all of them and nothing else", async () => {
    const elsewhere = tempFolder();
    put(join(elsewhere, "x/SKILL.md"), described("x"));
    for (const way of [(at: string) => put(at, ""), (at: string) => symlinkSync(elsewhere, at)]) {
      const { skills, workspace } = setUp({ builtIn: { "cron/SKILL.md": described("cron") } });
      way(join(workspace, "skills"));
      expect((await skills.list()).filter(({ missing }) => missing.length === 0)).toMatchObject([
        { name: "cron" },
      ]);
      expect((await skills.prompt()).summary).not.toContain("**x**");
    }
  });
});

describe("prompt()", () => {
  test("prompt() has a line for each skill, and says what is missing", async () => {
    const { skills } = setUp({
      own: {
        "one/SKILL.md": skillFile(["name: one", "description: First."]),
        "two/SKILL.md": skillFile([
          "name: two",
          "description: Second.",
          'metadata: {"nanobot":{"requires":{"bins":["gh"]}}}',
        ]),
      },
    });
    const { active, summary } = await skills.prompt();
    expect(active).toBe("");
    expect(summary.split("\n").slice(2)).toEqual([
      "- **one** — First. `skills/one/SKILL.md`",
      "- **two** — Second. (unavailable: the program gh is missing) `skills/two/SKILL.md`",
    ]);
    expect(summary).toContain("read_file");
  });

  test("prompt() holds what is always there and can be used in full, and no line for it", async () => {
    const always = ["description: Always.", "always: true"];
    const { skills, installed, clock } = setUp({
      own: {
        "here/SKILL.md": skillFile(["name: here", ...always], "Here it is."),
        "lost/SKILL.md": skillFile(["name: lost", ...always, "requires: {bins: [gh]}"], "Lost it is."),
      },
    });
    const first = await skills.prompt();
    expect(first.active).toBe("## Skill here (`skills/here/SKILL.md`)\n\nHere it is.");
    expect(first.summary).not.toContain("**here**");
    expect(first.summary).toContain("**lost** — Always. (unavailable: the program gh is missing)");
    installed.add("gh");
    expect(await skills.prompt()).toBe(first);
    await clock.advance(10_000);
    expect((await skills.prompt()).active).toContain("Lost it is.");
  });

  test("prompt() is the same object until something changes, and reads no file twice", async () => {
    let reads = 0;
    const pinned = createPinnedFiles({ os: process.platform });
    const { again, putOwn, workspace } = setUp({
      own: { "a/SKILL.md": described("a"), "b/SKILL.md": described("b") },
      builtIn: { "cron/SKILL.md": described("cron") },
    });
    const skills = again({
      pinned: {
        read(path, range) {
          reads++;
          return pinned.read(path, range);
        },
      },
    });
    const first = await skills.prompt();
    expect(await skills.prompt()).toBe(first);
    expect(await skills.prompt()).toBe(first);
    expect(reads).toBe(2);
    utimesSync(putOwn("a/SKILL.md", described("a", "Anew.")), 1, 1);
    const second = await skills.prompt();
    expect(second.summary).toContain("Anew.");
    expect(reads).toBe(3);
    rmSync(join(workspace, "skills/b"), { recursive: true });
    expect((await skills.prompt()).summary).not.toContain("**b**");
    expect(reads).toBe(3);
    // Another process says the same of the same files, byte for byte.
    expect(await again().prompt()).toEqual(await skills.prompt());
  });

  test("prompt() stays within its bounds and says what is left out", async () => {
    const words = "word ".repeat(190);
    const own = Object.fromEntries(
      Array.from({ length: 150 }, (_, index) => [`s${index}/SKILL.md`, described(`s${index}`, words)]),
    );
    const { summary } = await setUp({ own }).skills.prompt();
    expect(summary.length).toBeLessThanOrEqual(16_000);
    const lines = summary.split("\n");
    expect(lines.slice(2, -1).every((line) => line.length < 360)).toBe(true);
    const shown = lines.filter((line) => line.startsWith("- **")).length;
    expect(shown).toBeGreaterThan(30);
    expect(lines.at(-1)).toStartWith(`${150 - shown} more skills are not shown here for want of room: s`);
  });

  test("prompt() bounds what is always there, over all of it together", async () => {
    const always = (name: string, length: number) =>
      skillFile([`name: ${name}`, `description: About ${name}.`, "always: true"], "y".repeat(length));
    const { skills } = setUp({
      own: {
        "a/SKILL.md": always("a", 20_000),
        "b/SKILL.md": always("b", 20_000),
        "c/SKILL.md": always("c", 20_000),
      },
    });
    const { active, summary } = await skills.prompt();
    expect(active.length).toBeLessThanOrEqual(32_000);
    expect(active.length).toBeGreaterThan(31_000);
    expect(active).toContain("[Cut: the rest of this skill is in `skills/b/SKILL.md`");
    // The third has no room at all, and can be read like any other.
    expect(summary).toContain("- **c** — About c. `skills/c/SKILL.md`");
    expect(await skills.text("b")).toBe("y".repeat(20_000));
    const named = await skills.named("$a $b $c");
    expect(named.match(/The user named the skill (.)/g)).toEqual(["The user named the skill c"]);
  });
});

describe("named()", () => {
  const own = {
    "git-hub/SKILL.md": skillFile(
      ["name: git-hub", "description: Issues.", "requires: {bins: [gh]}"],
      "Use gh.",
    ),
    "notes/SKILL.md": skillFile(["name: notes", "description: Notes."], "Write it down."),
    "main/SKILL.md": skillFile(["name: main", "description: Main.", "always: true"], "Always."),
    "a1/SKILL.md": described("a1"),
    "b2/SKILL.md": described("b2"),
  };

  test("named() gives the text, the folder and what is missing, in the order of the message", async () => {
    const { skills } = setUp({ own });
    expect(await skills.named("Please $notes this, and then $git-hub. Or $notes?")).toBe(
      [
        "The user named the skill notes, whose folder is `skills/notes`. It says:",
        "Write it down.",
        "The user named the skill git-hub, whose folder is `skills/git-hub`. It cannot be used as it is: the program gh is missing. It says:",
        "Use gh.",
      ].join("\n\n"),
    );
  });

  test("named() has nothing for what is in the prompt already, disabled, unknown or nobody's", async () => {
    const { again } = setUp({ own });
    const skills = again({ disabled: ["notes"] });
    expect(await skills.named("$main $notes $HOME $1 $nothing \\$a1 $a1x $a1-b x$b2 $$b2")).toBe("");
  });

  test("named() takes three at the most", async () => {
    const { skills } = setUp({ own });
    const text = await skills.named("$a1 $b2 $notes $git-hub");
    expect(text.match(/The user named/g)).toHaveLength(3);
    expect(text).not.toContain("git-hub");
  });

  test("named() names the folder of a built-in skill, where it is", async () => {
    const { skills, files, workspace } = setUp({ builtIn: { "cron/SKILL.md": described("cron") } });
    const text = await skills.named("use $cron");
    const [, folder = ""] = /whose folder is `([^`]+)`/.exec(text) ?? [];
    expect(folder).toMatch(/^\.nanobot\/skills\/[0-9a-f]{16}\/cron$/);
    expect((await files.stat(join(workspace, folder, "SKILL.md")))?.kind).toBe("file");
  });
});

describe("skills that others published load unchanged", () => {
  test("list() understands all three shapes", async () => {
    const { skills } = setUp({ own: published, programs: ["curl", "gpg2"] });
    expect(await skills.list()).toEqual([
      {
        name: "home-control",
        source: "workspace",
        description: "Switches lamps and heating, and says how warm it is.",
        path: "skills/home-control/SKILL.md",
        isAlways: true,
        missing: ["the variable HOME_HUB"],
        problems: [],
      },
      {
        name: "mail-box",
        source: "workspace",
        description: "Read and answer mail from the command line.",
        path: "skills/mail-box/SKILL.md",
        isAlways: false,
        missing: ["the program mailer", "the variable MAIL_TOKEN"],
        problems: [],
      },
      {
        name: "spreadsheet-report",
        source: "workspace",
        description:
          "Turns a table (.csv, .xlsx) into a report with totals and charts. Use when the user asks for: (1) a summary of figures, (2) a chart, or (3) 'the monthly report'",
        path: "skills/spreadsheet-report/SKILL.md",
        isAlways: false,
        missing: [],
        problems: [],
      },
    ]);
  });

  test("text() is what stands behind the header", async () => {
    const { skills } = setUp({ own: published });
    expect(await skills.text("mail-box")).toBe("# Mail\n\n`mailer list --unread`");
    expect(await skills.text("home-control")).toBe("Lamps are in references/rooms/lamps.md.");
  });

  test("prompt() has one in full as soon as what it needs is there", async () => {
    const { skills } = setUp({ own: published, programs: ["curl"], env: { HOME_HUB: "hub" } });
    const { active, summary } = await skills.prompt();
    expect(active).toContain("Lamps are in references/rooms/lamps.md.");
    expect(summary).toContain(
      "- **mail-box** — Read and answer mail from the command line. (unavailable: the program mailer, the program gpg or gpg2 and the variable MAIL_TOKEN are missing)",
    );
  });

  test("list() says which system a skill is for", async () => {
    const { again } = setUp({ own: published, programs: ["mailer", "gpg"], env: { MAIL_TOKEN: "x" } });
    const mail = async (os: string) => (await again({ os }).list())[1]?.missing;
    expect(await mail("darwin")).toEqual([]);
    expect(await mail("win32")).toEqual(["macOS or Linux"]);
  });
});

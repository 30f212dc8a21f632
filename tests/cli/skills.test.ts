import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { help } from "../../src/cli/help.ts";
import { parseInvocation } from "../../src/cli/parse.ts";
import { command } from "../../src/cli/skills.ts";
import type { SkillsOptions } from "../../src/skills/skills.ts";
import { tempFolder } from "../fakes/temp.ts";
import { described, type SetUp, setUp, skillFile } from "../skills/fixture.ts";
import { createTestApp } from "./fixture.ts";

const always = skillFile(["name: main", "description: Main.", "always: true"]);
const needy = skillFile(["name: needy", "description: Needs.", "requires: {bins: [gh], env: [TOKEN]}"]);

/** The command line of a workspace with these skills. */
function prepare({
  mask = (text: string) => text,
  ...options
}: SetUp & { mask?: (text: string) => string } = {}) {
  const made = setUp(options);
  const app = createTestApp({ home: tempFolder() });

  async function run(...args: string[]) {
    const { command: found, positionals, options: given } = await parseInvocation(["skills", ...args]);
    const before = { out: app.terminal.stdout.length, err: app.terminal.stderr.length };
    const outcome = await Promise.resolve(
      found?.run?.({
        app: {
          ...app,
          mask,
          skills: async () => made.skills,
          paths: async () => ({ home: "", configFile: "", workspace: made.workspace }),
          prepareWorkspace: async () => [],
        },
        positionals,
        options: given,
        signal: new AbortController().signal,
      }),
    ).then(
      (code) => ({ code }),
      (error: Error & { hint?: string }) => ({ refused: `${error.message} | ${error.hint ?? ""}` }),
    );
    return {
      ...outcome,
      out: app.terminal.stdout.slice(before.out),
      err: app.terminal.stderr.slice(before.err),
    };
  }
  return { ...made, run };
}

describe("nanobot skills list", () => {
  test("says that there are none", async () => {
    expect(await prepare().run("list")).toEqual({
      code: 0,
      out: "",
      err: 'There are no skills. Make one with "nanobot skills new NAME"\n',
    });
  });

  test("shows each with where it is from, what it is for, and what is missing or wrong", async () => {
    const { run } = prepare({
      own: { "main/SKILL.md": always, "needy/SKILL.md": needy, "plain/SKILL.md": "# Do it\n" },
      builtIn: { "cron/SKILL.md": described("cron") },
    });
    const { out, ...outcome } = await run("list");
    expect(outcome).toEqual({ code: 0, err: "" });
    expect(out.replace(/[0-9a-f]{16}/, "DIGEST")).toBe(`cron (built-in; available)
  About cron.
  .nanobot/skills/DIGEST/cron/SKILL.md
main (workspace; in every prompt)
  Main.
  skills/main/SKILL.md
needy (workspace; unavailable: the program gh and the variable TOKEN are missing)
  Needs.
  skills/needy/SKILL.md
plain (workspace; available; problems: 1, see "nanobot skills check")
  Do it
  skills/plain/SKILL.md
`);
  });

  test("prints JSON, with secrets masked", async () => {
    const { run } = prepare({
      own: { "needy/SKILL.md": needy },
      mask: (text) => text.replaceAll("Needs", "***"),
    });
    expect(JSON.parse((await run("list", "--json")).out)).toEqual([
      {
        name: "needy",
        source: "workspace",
        description: "***.",
        path: "skills/needy/SKILL.md",
        isAlways: false,
        missing: ["the program gh", "the variable TOKEN"],
        problems: [],
      },
    ]);
    expect((await run("list")).out).toContain("***.");
  });
});

describe("nanobot skills show", () => {
  test("prints the file as it is, of the workspace and built in", async () => {
    const { run } = prepare({
      own: { "main/SKILL.md": `${always}\x1b[2Jend\n` },
      builtIn: { "cron/SKILL.md": described("cron") },
    });
    expect(await run("show", "main")).toEqual({ code: 0, out: `${always}end\n`, err: "" });
    expect((await run("show", "cron")).out).toBe(described("cron"));
  });

  test("prints the text of a built-in one where the workspace cannot be written", async () => {
    const { skills, again, workspace } = prepare({ builtIn: { "cron/SKILL.md": described("cron") } });
    const files = { ...setUp().files, makeFolder: () => Promise.reject(new Error("EROFS")) };
    const app = createTestApp({ home: tempFolder() });
    const inMemory = again({ files } as Partial<SkillsOptions>);
    const { command: found, positionals, options } = await parseInvocation(["skills", "show", "cron"]);
    await found?.run?.({
      app: {
        ...app,
        skills: async () => inMemory,
        paths: async () => ({ home: "", configFile: "", workspace }),
        prepareWorkspace: async () => [],
      },
      positionals,
      options,
      signal: new AbortController().signal,
    });
    expect(app.terminal.stdout).toBe(`${await skills.text("cron")}\n`);
  });

  test("says that there is no such skill, and which is meant", async () => {
    const { run } = prepare({ own: { "weather/SKILL.md": described("weather") } });
    expect(await run("show", "wether")).toMatchObject({
      refused: 'There is no skill "wether" | Did you mean "weather"?',
    });
    expect(await run("check", "other")).toMatchObject({
      refused: expect.stringContaining('Run "nanobot skills list"'),
    });
  });
});

describe("nanobot skills check", () => {
  const own = {
    "good/SKILL.md": described("good"),
    "Bad_One/SKILL.md": skillFile(["name: other", "always: perhaps"]),
    "needy/SKILL.md": needy,
  };

  test("says every problem of all and fails", async () => {
    const { out, ...outcome } = await prepare({ own }).run("check");
    expect(outcome).toEqual({ code: 1, err: "" });
    const lines = out.trimEnd().split("\n");
    expect(lines.every((line) => line.startsWith("skills/Bad_One/SKILL.md: "))).toBe(true);
    expect(lines.map((line) => line.slice("skills/Bad_One/SKILL.md: ".length))).toEqual([
      expect.stringContaining("its folder's name is not one that has lower-case letters"),
      'the name in its header, "other", is not that of its folder',
      "its header has no description",
      "always is neither true nor false",
    ]);
  });

  test("says of one, and of all, that nothing is wrong", async () => {
    const { run } = prepare({ own });
    expect(await run("check", "good")).toMatchObject({ code: 0, out: "1 skill is as they should be\n" });
    expect(await run("check", "Bad_One")).toMatchObject({ code: 1 });
    const { "Bad_One/SKILL.md": _, ...rest } = own;
    expect(await prepare({ own: rest }).run("check")).toMatchObject({
      code: 0,
      out: "2 skills are as they should be\n",
    });
  });
});

describe("nanobot skills new", () => {
  test("makes a skill that passes the check and that the agent sees", async () => {
    const { run, skills, workspace } = prepare();
    const description = '  Says "hello": # in\n many\tlanguages \\ 你好 ';
    expect(await run("new", "say-hello2", "--description", description)).toEqual({
      code: 0,
      out: `${join(workspace, "skills/say-hello2/SKILL.md")}\n`,
      err: "",
    });
    expect(await run("check")).toMatchObject({ code: 0 });
    expect((await skills.list())[0]?.description).toBe('Says "hello": # in many languages \\ 你好');
    expect(await run("new", "plain")).toMatchObject({ code: 0 });
    expect(await run("check")).toMatchObject({ code: 0 });
  });

  test("refuses what is there already, and changes nothing of it", async () => {
    const { run, workspace } = prepare({ own: { "mine/SKILL.md": "mine" } });
    expect(await run("new", "mine")).toMatchObject({
      refused: expect.stringContaining('Cannot make the skill "mine": there is something at'),
    });
    expect(readFileSync(join(workspace, "skills/mine/SKILL.md"), "utf8")).toBe("mine");
  });

  test.each(["Big", "a--b", "-a", "a-", "a_b", "a b", "../x", "", "ä", ".", "x".repeat(65)])(
    "refuses the name %j",
    async (name) => {
      const { run, workspace } = prepare();
      expect(await run("new", "--", name)).toMatchObject({
        refused: expect.stringContaining("lower-case letters, digits and single hyphens"),
      });
      expect(existsSync(join(workspace, "skills"))).toBe(false);
    },
  );
});

test("nanobot skills explains itself", async () => {
  const text = await help(["skills"], command);
  for (const word of ["list", "show", "check", "new"]) expect(text).toContain(word);
});

import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { help } from "../../src/cli/help.ts";
import { parseInvocation } from "../../src/cli/parse.ts";
import { command } from "../../src/cli/skills.ts";
import { TEMPLATE_STEPS } from "../../src/lib/skill-template.ts";
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
    expect(out).toBe(`cron (built-in; available)
  About cron.
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
        isDisabled: false,
      },
    ]);
    expect((await run("list")).out).toContain("***.");
  });

  test("shows what is disabled as that, and the model nothing of it", async () => {
    const { run, skills } = prepare({
      own: { "main/SKILL.md": always },
      builtIn: { "cron/SKILL.md": described("cron") },
      disabled: ["Cron", "main"],
    });
    const { out } = await run("list");
    expect(out.split("\n").filter((line) => line.includes("("))).toEqual([
      "cron (built-in; disabled by agents.defaults.disabledSkills)",
      "main (workspace; disabled by agents.defaults.disabledSkills)",
    ]);
    expect(JSON.parse((await run("list", "--json")).out)).toMatchObject([
      { name: "cron", isDisabled: true },
      { name: "main", isDisabled: true },
    ]);
    expect(await skills.prompt()).toEqual({ active: "", summary: "" });
    expect(await skills.named("$cron $main")).toBe("");
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

  test("prints one that is disabled, and says that it is", async () => {
    const { run } = prepare({ builtIn: { "cron/SKILL.md": described("cron") }, disabled: ["cron"] });
    const err =
      'The skill "cron" is disabled by agents.defaults.disabledSkills, so the agent does not see it\n';
    expect(await run("show", "cron")).toEqual({ code: 0, out: described("cron"), err });
    expect(await run("check", "cron")).toEqual({ code: 0, out: "1 skill is as they should be\n", err });
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

test("nanobot skills list, show and check only read", async () => {
  const builtIn = { "cron/SKILL.md": described("cron") };
  for (const workspace of [tempFolder(), join(tempFolder(), "missing")]) {
    const { run } = prepare({ workspace, builtIn });
    const before = existsSync(workspace) && readdirSync(workspace);
    expect((await run("list")).out).toContain("cron (built-in; available)");
    expect(await run("show", "cron")).toEqual({ code: 0, out: described("cron"), err: "" });
    expect(await run("check")).toMatchObject({ code: 0 });
    expect(existsSync(workspace) && readdirSync(workspace)).toEqual(before);
  }
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

test("nanobot skills check says what is wrong beside the skills", async () => {
  const { run } = prepare({
    own: { "good/SKILL.md": described("good"), "group/inner/SKILL.md": described("inner"), "notes.md": "x" },
    builtIn: { "cron/SKILL.md": described("cron") },
    disabled: ["CRON", "wether", ""],
  });
  expect(await run("check")).toEqual({
    code: 1,
    out: `skills/group: it has no SKILL.md, so that it is no skill
agents.defaults.disabledSkills: there is no skill "wether"
agents.defaults.disabledSkills: there is no skill ""
`,
    err: "",
  });
  expect(await run("check", "group")).toMatchObject({
    refused: 'There is no skill "group" | "skills/group" has no SKILL.md, so that it is no skill',
  });
  expect(await run("check", "good")).toMatchObject({ code: 0 });
});

describe("nanobot skills new", () => {
  test("makes a skill that the agent sees, and that passes the check when it is filled in", async () => {
    const { run, skills, workspace } = prepare();
    const description = '  Says "hello": # in\n many\tlanguages \\ 你好 ';
    expect(await run("new", "say-hello2", "--description", description)).toEqual({
      code: 0,
      out: `${join(workspace, "skills/say-hello2/SKILL.md")}\n`,
      err: "",
    });
    expect((await skills.list())[0]?.description).toBe('Says "hello": # in many languages \\ 你好');
    expect(await run("check")).toMatchObject({
      code: 1,
      out: "skills/say-hello2/SKILL.md: its text is that of the template still, which teaches nothing\n",
    });
    const file = join(workspace, "skills/say-hello2/SKILL.md");
    writeFileSync(file, readFileSync(file, "utf8").replace(TEMPLATE_STEPS, "Wave."));
    expect(await run("check")).toMatchObject({ code: 0 });
    expect(await run("new", "plain")).toMatchObject({ code: 0 });
    expect((await run("check", "plain")).out.split("\n")).toHaveLength(3);
  });

  test("hides no built-in skill unasked, but begins with all of it where that is asked for", async () => {
    const builtIn = {
      "weather/SKILL.md": described("weather"),
      "weather/scripts/now.sh": "#!/bin/sh\n",
      "weather/references/a/b.md": "b",
    };
    const { run, workspace, skills } = prepare({ builtIn });
    expect(await run("new", "weather")).toMatchObject({
      refused:
        'Cannot make the skill "weather": it would hide the built-in one | Say --from-built-in to begin with a copy of that, or choose another name',
    });
    expect(existsSync(join(workspace, "skills"))).toBe(false);
    const folder = join(workspace, "skills/weather");
    expect(await run("new", "weather", "--from-built-in")).toMatchObject({
      code: 0,
      out: `${join(folder, "SKILL.md")}\n`,
    });
    for (const [path, content] of Object.entries(builtIn))
      expect(readFileSync(join(workspace, "skills", path), "utf8")).toBe(content);
    expect(statSync(join(folder, "scripts/now.sh")).mode & 0o111).not.toBe(0);
    expect(statSync(join(folder, "SKILL.md")).mode & 0o111).toBe(0);
    expect(await skills.list()).toMatchObject([{ name: "weather", source: "workspace" }]);
    expect(await run("new", "weather", "--from-built-in")).toMatchObject({
      refused: expect.stringContaining("there is something at"),
    });
  });

  test("copies only what is built in, with the description it has", async () => {
    const { run, workspace } = prepare({ builtIn: { "cron/SKILL.md": described("cron") } });
    expect(await run("new", "cro", "--from-built-in")).toMatchObject({
      refused: expect.stringContaining("none of that name is built in"),
    });
    expect(await run("new", "cron", "--from-built-in", "--description", "x")).toMatchObject({
      refused: expect.stringContaining("Cannot take --description"),
    });
    expect(existsSync(join(workspace, "skills"))).toBe(false);
  });

  test.each(["mine", " MINE", "cron"])("refuses a name that is disabled as %j", async (off) => {
    const { run, workspace } = prepare({
      builtIn: { "cron/SKILL.md": described("cron") },
      disabled: [off],
    });
    const name = off.trim().toLowerCase();
    for (const more of [[], ["--from-built-in"]])
      expect(await run("new", name, ...more)).toMatchObject({
        refused: expect.stringContaining(`Cannot make the skill "${name}": the agent would not see it`),
      });
    expect(existsSync(join(workspace, "skills"))).toBe(false);
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

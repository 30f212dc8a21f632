/** What a SKILL.md says, whatever bytes it is made of. */

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { skillTemplate, TEMPLATE_DESCRIPTION, TEMPLATE_STEPS } from "../../src/lib/skill-template.ts";
import { readFacts } from "../../src/skills/facts.ts";
import { parseHeader } from "../../src/skills/header.ts";
import { splitSkill } from "../../src/skills/skill-text.ts";
import { setUp, skillFile } from "./fixture.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const split = (text: string) => splitSkill(encode(text));
const facts = (text: string, folder = "x") => readFacts(split(text), folder);
const headed = (...lines: readonly string[]) =>
  facts(skillFile(["name: x", "description: About x.", ...lines]));

describe("splitSkill()", () => {
  test.each([
    ["---\nname: x\n---\nbody", "name: x\n", "body"],
    ["---\r\nname: x\r\n---\r\n\r\nbody\r\n", "name: x\n", "body"],
    ["\ufeff---\nname: x\n---\nbody", "name: x\n", "body"],
    ["\n \n---  \nname: x\n---\t\nbody\n---\nmore", "name: x\n", "body\n---\nmore"],
    ["---\nname: x\n...\nbody", "name: x\n", "body"],
    ["---\n---\nbody", "", "body"],
    ["---\nname: x\n---", "name: x\n", ""],
    ["---\na: na\0me\u202e\n---\nb\0ody\u200b", "a: name\n", "body"],
    ["---\na: ---\nb: '---'\n---\nbody", "a: ---\nb: '---'\n", "body"],
  ])("splitSkill() takes %j apart", (text, header, body) => {
    expect(split(text)).toMatchObject({ header, body, problem: undefined });
  });

  test.each([
    ["# Title\n\nname: x", "# Title\n\nname: x", "does not begin with a header"],
    ["", "", "does not begin with a header"],
    ["----\nname: x\n---\n", "----\nname: x\n---", "does not begin with a header"],
    ["---\nname: x\nbody", "name: x\nbody", "never ends"],
    ["---", "", "never ends"],
    [`---\n${"# long\n".repeat(6_000)}---\nbody`, "body", "longer than 32768"],
  ])("splitSkill() finds no header in %.20j", (text, body, problem) => {
    expect(split(text)).toMatchObject({
      header: undefined,
      body,
      problem: expect.stringContaining(problem) as unknown as string,
    });
  });

  test("splitSkill() reads UTF-16 by its mark", () => {
    const text = "---\nname: x\n---\nGrüße";
    const units = Uint16Array.from([0xfeff, ...Array.from(text, (one) => one.charCodeAt(0))]);
    expect(splitSkill(new Uint8Array(units.buffer)).body).toBe("Grüße");
  });
});

describe("parseHeader()", () => {
  test("parseHeader() takes references for what they could be", async () => {
    const bomb = ["a: &a [x,x]", ...["b", "c", "d"].map((key) => `${key}: &${key} [*a,*a]`)].join("\n");
    for (const text of [bomb, "name: x\nall: &all [*all]", "name: &n x\ndescription: *n"]) {
      expect((await parseHeader(text)).problem).toContain("is not valid YAML");
    }
  });

  test("parseHeader() takes what stands on plain lines where YAML stumbles over it", async () => {
    const { fields, problem } = await parseHeader(
      [
        "name: x",
        "description: Use this when: somebody asks",
        '  for "it": at once',
        'license: "MIT"',
        "text: >-",
        "  on the next line",
        "- nonsense",
      ].join("\n"),
    );
    expect(fields).toEqual({
      name: "x",
      description: 'Use this when: somebody asks for "it": at once',
      license: "MIT",
      text: "on the next line",
    });
    expect(problem).toContain("is not valid YAML");
  });

  test.each([
    "[".repeat(30_000),
    "{a: ".repeat(7_000),
    "- ".repeat(15_000),
    "? ".repeat(15_000),
    "&a ".repeat(9_000),
  ])("parseHeader() survives %.12j, and so on", async (text) => {
    expect(Object.keys((await parseHeader(text)).fields).length).toBeLessThan(2);
  });

  test("parseHeader() lets no key be more than a key", async () => {
    const { fields } = await parseHeader("__proto__: {always: true}\nconstructor: x");
    expect(Object.hasOwn(fields, "always")).toBe(false);
    expect(({} as { always?: unknown }).always).toBeUndefined();
  });

  test.each(["text", "- a\n- b", "5"])("parseHeader() says that %j has no keys", async (text) => {
    expect(await parseHeader(text)).toEqual({
      fields: {},
      problem: "its header is no list of keys and values",
    });
  });
});

describe("readFacts()", () => {
  test.each([
    ["---\nname: x\ndescription: a: b\n---\n", 3],
    ["\n  \n---\nname: x\ndescription: a: b\n---\n", 5],
    ["---\r\nname: x\r\nlicense: MIT\r\ndescription: 'a\r\n---\r\n", 5],
    ["---\nname: x\ndescription: [at line 1, column 2\n---\n", 4],
  ])("readFacts() names the line of %j as an editor does", async (text, line) => {
    const { problems } = await facts(text);
    expect(problems.join()).toMatch(new RegExp(`not valid YAML \\([^)]* at line ${line}, column \\d+\\)`));
  });

  test("readFacts() knows a template that nobody has filled in", async () => {
    const whole = skillTemplate("x", TEMPLATE_DESCRIPTION);
    expect((await facts(whole)).problems).toEqual([
      "its description is that of the template still",
      "its text is that of the template still, which teaches nothing",
    ]);
    expect((await facts(skillTemplate("x", "Make y."))).problems).toHaveLength(1);
    expect((await facts(whole.replace(TEMPLATE_STEPS, "Do it."))).problems).toHaveLength(1);
    expect((await facts(skillTemplate("x", "Make y.").replace(TEMPLATE_STEPS, "Do it."))).problems).toEqual(
      [],
    );
  });

  test("readFacts() takes the folder's name and the first line where there is no header", async () => {
    expect(await facts("\n# How to *do* it\n\nMore.", "do-it")).toEqual({
      description: "How to *do* it",
      isAlways: false,
      needs: { bins: [], anyBins: [], env: [], os: [] },
      problems: ["it does not begin with a header (---)"],
    });
    expect((await facts("", "do-it")).description).toBe("do-it");
  });

  test.each([
    ["name: other\ndescription: d", 'the name in its header, "other", is not that of its folder'],
    ["name: 5\ndescription: d", "the name in its header is not a text"],
    ["description: d", "its header has no name"],
    ["name: x", "its header has no description"],
    ["name: x\ndescription: [a]", "the description in its header is not a text"],
    [`name: x\ndescription: ${"d".repeat(2_000)}`, "its description is longer than 1024 characters"],
    ["name: x\ndescription: d\nalways: maybe", "always is neither true nor false"],
    ["name: x\ndescription: d\nmetadata: 5", "its metadata is not a map"],
    ["name: x\ndescription: d\nmetadata: '{broken'", "its metadata is not valid JSON"],
    ["name: x\ndescription: d\nmetadata: {nanobot: [1]}", "metadata.nanobot is not a map"],
    ["name: x\ndescription: d\nrequires: [gh]", "requires is not a map"],
    ["name: x\ndescription: d\nrequires: {bins: gh}", "requires.bins is not a list"],
    ["name: x\ndescription: d\nrequires: {bins: [5, {}]}", "requires.bins holds something that is no name"],
    ["name: x\ndescription: d\nrequires: {env: ['a b']}", "requires.env holds something that is no name"],
    ["name: x\ndescription: d\nos: 7", "os is not a list"],
  ])("readFacts() reports %j", async (header, problem) => {
    const { problems, description } = await facts(`---\n${header}\n---\nThe body.`);
    expect(problems).toContain(problem);
    expect(description).not.toBe("");
  });

  test.each(["Upper", "two--hyphens", "-edge", "edge-", "under_score", "a b", "ä", "x".repeat(65)])(
    "readFacts() reports a folder called %j",
    async (folder) => {
      const { problems } = await readFacts(split(skillFile([`name: ${folder}`, "description: d"])), folder);
      expect(problems).toEqual([expect.stringContaining("its folder's name is not one that")]);
    },
  );

  test.each(["true", "yes", "'On'", '"TRUE"'])("readFacts() takes always: %s for a yes", async (value) => {
    expect(await headed(`always: ${value}`)).toMatchObject({ isAlways: true, problems: [] });
  });
  test.each(["false", "no", "", "null", "off"])("readFacts() takes always: %s for a no", async (value) => {
    expect(await headed(`always: ${value}`)).toMatchObject({ isAlways: false, problems: [] });
  });

  test("readFacts() takes what a skill needs from wherever it stands", async () => {
    const needs = { bins: ["gh"], anyBins: [], env: ["TOKEN"], os: ["linux"] };
    for (const lines of [
      ["requires: {bins: [gh], env: [TOKEN]}", "os: [linux]"],
      ["metadata: {requires: {bins: [gh], env: [TOKEN]}, os: [linux]}"],
      ["metadata: {nanobot: {requires: {bins: [gh], env: [TOKEN]}, os: [linux]}, openclaw: {os: [darwin]}}"],
      [`metadata: '{"openclaw":{"requires":{"bins":["gh"],"env":["TOKEN"],"anyBins":null},"os":["linux"]}}'`],
      ["metadata: {clawdbot: {requires: {bins: [gh, gh], env: [TOKEN]}, os: [linux]}}", "requires: null"],
    ]) {
      expect([lines, await headed(...lines)]).toEqual([
        lines,
        { description: "About x.", isAlways: false, needs, problems: [] },
      ]);
    }
  });

  test("readFacts() bounds the names it takes", async () => {
    const many = JSON.stringify(Array.from({ length: 500 }, (_, index) => `p${index}`));
    const { needs, problems } = await headed(`requires: {bins: ${many}, env: [${"E".repeat(5_000)}]}`);
    expect(needs.bins).toHaveLength(20);
    expect(needs.env).toEqual([]);
    expect(problems).toEqual([
      "requires.bins has more than 20 names",
      "requires.env holds something that is no name",
    ]);
  });

  test("readFacts() does not mind keys that it does not know", async () => {
    const others = ["license: MIT", "allowed-tools: [Read]", "version: 1", "tags: {a: [b]}", "? [a]\n: b"];
    for (const line of others.slice(0, 4)) expect((await headed(line)).problems).toEqual([]);
  });
});

/** The form of a summary: the sentence, a blank line, and a line for each skill that ends with its path. */
const LINE =
  /^- \*\*any-thing\*\* — [^\n]{1,300}(?: \(unavailable: [^\n]+\))? `skills\/any-thing\/SKILL\.md`$/;

const piece = fc.oneof(
  fc.constantFrom(
    "---\n",
    "...",
    "\n",
    "\r\n",
    "\0",
    "\ufeff",
    ": ",
    "- ",
    "`",
    "**",
    "—",
    "&a ",
    "*a",
    "{",
    "[",
    "]",
    "}",
    "'",
    '"',
  ),
  fc.constantFrom(
    "name",
    "description",
    "always",
    "metadata",
    "nanobot",
    "requires",
    "bins",
    "true",
    "|",
    ">",
    "!!map",
    "%YAML 1.1",
    "\u2028",
    "\x1b[2J",
    "\u202e",
  ),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc.array(piece, { maxLength: 40 }).map((parts) => encode(parts.join(""))),
  fc.array(piece, { maxLength: 30 }).map((parts) => encode(`---\n${parts.join("")}\n---\n`)),
);

test("any bytes as a SKILL.md throw nothing and leave the summary its form", async () => {
  await fc.assert(
    fc.asyncProperty(bytes, async (content) => {
      const { skills, log } = setUp({ own: { "any-thing/SKILL.md": content } });
      const { active, summary } = await skills.prompt();
      const [skill] = await skills.list();
      expect(skill?.name).toBe("any-thing");
      expect(skill?.problems.every((problem) => !/[\n\x1b\0]/.test(problem))).toBe(true);
      if (active === "") {
        const [sentence, blank, line, ...rest] = summary.split("\n");
        expect([sentence?.slice(0, 7), blank, rest]).toEqual(["A skill", "", []]);
        expect(line).toMatch(LINE);
      } else {
        expect(active).toStartWith("## Skill any-thing (`skills/any-thing/SKILL.md`)\n\n");
        expect(summary).toBe("");
      }
      expect(await skills.text("any-thing")).toBeString();
      expect(log.lines).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

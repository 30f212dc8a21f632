/** The scripts of the skill skill-creator. */

import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { tempFolder } from "../fakes/temp.ts";
import { runScript } from "./run-script.ts";
import { root, skillNames } from "./skill-files.ts";

const init = (cwd: string, ...args: readonly string[]) =>
  runScript("skill-creator/scripts/init-skill.sh", args, { cwd });
const check = (cwd: string, ...args: readonly string[]) =>
  runScript("skill-creator/scripts/check-skill.sh", args, { cwd });

/** A skill whose `SKILL.md` is `text`. */
function skillOf(text: string, name = "a-skill") {
  const cwd = tempFolder();
  mkdirSync(join(cwd, name));
  writeFileSync(join(cwd, name, "SKILL.md"), text);
  return { cwd, folder: join(cwd, name), check: () => check(cwd, name) };
}

const good = "---\nname: a-skill\ndescription: Does things. Use it when asked.\n---\n\n# A skill\n\nDo it.\n";

describe("init-skill.sh", () => {
  test("makes a skill that only has to be filled in", () => {
    const cwd = tempFolder();
    expect(init(cwd, "my-skill")).toEqual({ code: 0, stdout: "Made skills/my-skill/SKILL.md\n", stderr: "" });
    const { code, stdout } = check(cwd, "skills/my-skill");
    expect(stdout).toBe("skills/my-skill/SKILL.md: something is still to be filled in\n");
    expect(code).toBe(1);
    const path = join(cwd, "skills/my-skill/SKILL.md");
    writeFileSync(path, readFileSync(path, "utf8").replaceAll("FILL IN: ", ""));
    expect(check(cwd, "skills/my-skill/")).toEqual({ code: 0, stdout: "ok\n", stderr: "" });
  });

  test.each([
    "Reports: the monthly one # really",
    "It's the user's, with \"quotes\" and 'others'",
    "- a list? [no] {no} & *no* | > %",
    "Preise in €, 日本語で 🐈",
    "C:\\path\\n $HOME `date` $(date)",
  ])("writes a description so that it is read as it was given: %s", (description) => {
    const cwd = tempFolder();
    expect(init(cwd, "my-skill", description).code).toBe(0);
    const text = readFileSync(join(cwd, "skills/my-skill/SKILL.md"), "utf8");
    expect(parse(text.split("---\n")[1] ?? "")).toEqual({ name: "my-skill", description });
  });

  test("makes the folders that are asked for, where it is told to", () => {
    const cwd = tempFolder();
    expect(init(cwd, "-d", "other place", "-s", "-r", "-a", "x1").code).toBe(0);
    expect(readdirSync(join(cwd, "other place/x1")).sort()).toEqual([
      "SKILL.md",
      "assets",
      "references",
      "scripts",
    ]);
  });

  test.each([
    "",
    "My-Skill",
    "two--hyphens",
    "-first",
    "last-",
    "with space",
    "ä",
    "../out",
    "a/b",
    "a_b",
    "x".repeat(65),
  ])("refuses the name %j and makes nothing", (name) => {
    const cwd = tempFolder();
    const refused = init(cwd, "--", name);
    expect(refused.stderr).toStartWith("A name has ");
    expect(refused.code).toBe(2);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("leaves a skill that is there as it is", () => {
    const cwd = tempFolder();
    init(cwd, "my-skill", "first");
    const before = readFileSync(join(cwd, "skills/my-skill/SKILL.md"), "utf8");
    const again = init(cwd, "my-skill", "second");
    expect(again).toEqual({ code: 1, stdout: "", stderr: "skills/my-skill is there already\n" });
    expect(readFileSync(join(cwd, "skills/my-skill/SKILL.md"), "utf8")).toBe(before);
  });

  test.each([[[]], [["-x", "name"]], [["a", "b", "c"]], [["name", "two\nlines"]]])(
    "is used wrongly with %j",
    (args) => {
      const cwd = tempFolder();
      expect(init(cwd, ...args).code).toBe(2);
      expect(existsSync(join(cwd, "skills"))).toBe(false);
    },
  );
});

describe("check-skill.sh", () => {
  test("finds nothing in the built-in skills", () => {
    expect(check(root, ...skillNames)).toEqual({ code: 0, stdout: "ok\n", stderr: "" });
  });

  test.each([
    ["plain", good],
    ["with CRLF", good.replaceAll("\n", "\r\n")],
    ["quoted", good.replace("Does things. Use it when asked.", '"Does: things"')],
    ["folded", good.replace("Does things.", ">-\n  Does things.\n ")],
    ["on the next line", good.replace("Does things.", "\n  Does things.")],
    ["with other keys", good.replace("name:", "license: MIT\nhomepage: https://example.com\nname:")],
    ["with 1,024 characters of any language", good.replace("Does things.", "日".repeat(1_003))],
    ["with a rule in its text", `${good}\n---\n\nMore.\n`],
  ])("takes a skill whose header is written %s", (_, text) => {
    expect(skillOf(text).check()).toEqual({ code: 0, stdout: "ok\n", stderr: "" });
  });

  test.each([
    ["no header", "# A skill\n", "the header is missing"],
    ["an open header", "---\nname: a-skill\ndescription: x\n", "the header is missing"],
    ["another name", good.replace("name: a-skill", "name: other"), 'name is "other"'],
    ["no name", good.replace("name: a-skill\n", ""), 'name is ""'],
    ["no description", good.replace(/description: .*\n/, ""), "description is missing"],
    ["an empty description", good.replace(/description: .*/, "description: ''"), "description is missing"],
    ["a long description", good.replace("Does", "x".repeat(1_025)), "more than 1024 characters"],
    ["no text", good.split("\n# A skill")[0] ?? "", "there is no text"],
    ["a broken link", `${good}[more](references/more.md)\n`, 'link to "references/more.md"'],
    ["a long text", good + "Do it.\n".repeat(500), "more than 500 lines"],
  ])("finds %s", (_, text, problem) => {
    const { code, stdout } = skillOf(text).check();
    expect(stdout).toStartWith("a-skill/SKILL.md: ");
    expect(stdout).toContain(problem);
    expect(code).toBe(1);
  });

  test("follows links to files that are there, and leaves addresses and headings alone", () => {
    const skill = skillOf(
      `${good}[a](references/a.md#part), [b](https://example.com/x), [c](#there), [d](mailto:a@example.com)\n`,
    );
    mkdirSync(join(skill.folder, "references"));
    writeFileSync(join(skill.folder, "references/a.md"), "# A\n");
    expect(skill.check().stdout).toBe("ok\n");
  });

  test("finds names that no skill can have", () => {
    const { code, stdout } = skillOf(good.replace("name: a-skill", "name: A_skill"), "A_skill").check();
    expect(stdout).toContain("small letters");
    expect(code).toBe(1);
  });

  test("finds scripts that cannot be run", () => {
    const skill = skillOf(good);
    mkdirSync(join(skill.folder, "scripts"));
    writeFileSync(join(skill.folder, "scripts/good.sh"), "#!/bin/sh\n");
    chmodSync(join(skill.folder, "scripts/good.sh"), 0o755);
    writeFileSync(join(skill.folder, "scripts/bad.sh"), "echo\n");
    expect(skill.check().stdout).toBe(
      "a-skill/SKILL.md: bad.sh does not begin with #!\n" +
        "a-skill/SKILL.md: bad.sh is not executable: chmod +x a-skill/scripts/bad.sh\n",
    );
  });

  test("tells of every skill that it is given, and of one that is not there", () => {
    const { cwd } = skillOf(good.replace("a-skill", "b"));
    const { code, stdout } = check(cwd, "nowhere", "a-skill");
    expect(stdout).toBe(
      'nowhere/SKILL.md: it is not there\na-skill/SKILL.md: name is "b", and the folder is called "a-skill"\n',
    );
    expect(code).toBe(1);
    expect(check(cwd).code).toBe(2);
  });
});

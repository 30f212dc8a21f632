/** The form of the built-in skills: headers, links, scripts, and what they cost in every prompt. */

import { describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import * as v from "valibot";
import { filesOf, links, readText, root, skillNames, splitSkill } from "./skill-files.ts";

const requirements = v.strictObject({
  bins: v.optional(v.array(v.pipe(v.string(), v.regex(/^[\w.-]+$/)))),
  env: v.optional(v.array(v.pipe(v.string(), v.regex(/^[A-Z][A-Z0-9_]*$/)))),
});

const header = v.strictObject({
  name: v.pipe(v.string(), v.regex(/^[a-z0-9]+(-[a-z0-9]+)*$/), v.maxLength(64)),
  description: v.pipe(v.string(), v.minLength(1), v.maxLength(1_024), v.regex(/^[^\n]+$/)),
  always: v.optional(v.boolean()),
  metadata: v.optional(
    v.strictObject({
      nanobot: v.strictObject({
        emoji: v.optional(v.string()),
        os: v.optional(v.array(v.picklist(["linux", "darwin", "win32"]))),
        requires: v.optional(requirements),
      }),
    }),
  ),
});

test("the built-in skills are those that are promised", () => {
  expect(skillNames).toEqual([
    "cron",
    "github",
    "memory",
    "nanobot",
    "skill-creator",
    "summarize",
    "tmux",
    "weather",
  ]);
});

describe.each(skillNames)("skills/%s", (skill) => {
  test("has a header that is understood, with the folder's name", () => {
    const { header: found } = splitSkill(skill);
    expect(v.safeParse(header, found).issues).toBeUndefined();
    expect(v.parse(header, found).name).toBe(skill);
  });

  test("says when it is to be used, in two sentences", () => {
    const { description } = v.parse(header, splitSkill(skill).header);
    expect(description).toMatch(/\bUse it (for|when|whenever)\b/);
    expect(description.length).toBeLessThan(320);
  });

  test("has a text that is short enough to be read whole", () => {
    const { body } = splitSkill(skill);
    expect(body.trimStart()).toStartWith("# ");
    expect(body.length).toBeLessThan(9_000);
  });

  test("names every file that lies in its folder", () => {
    const others = filesOf(skill).filter((file) => file !== "SKILL.md");
    const text = readText(`${skill}/SKILL.md`);
    const missing = others.filter((file) => {
      const script = file.replace(/^scripts\//, "SCRIPTS/");
      return !text.includes(file) && !text.includes(script);
    });
    expect(missing).toEqual([]);
  });
});

test("links of skills lead to files that are there", () => {
  expect(links.length).toBeGreaterThan(3);
  const broken = links.filter(({ where, text }) => {
    const file = where.replace(/^skills\//, "");
    return !existsSync(join(root, dirname(file), text.replace(/#.*$/, "")));
  });
  expect(broken).toEqual([]);
});

test("scripts of skills are executable and begin with #!/bin/sh", () => {
  const scripts = skillNames.flatMap((skill) =>
    filesOf(skill)
      .filter((file) => file.startsWith("scripts/"))
      .map((file) => `${skill}/${file}`),
  );
  expect(scripts.length).toBeGreaterThan(4);
  for (const script of scripts) {
    expect(readText(script).split("\n")[0]).toBe("#!/bin/sh");
    expect(statSync(join(root, script)).mode & 0o111).toBe(0o111);
  }
});

test("skills cost little in every prompt", () => {
  const headers = skillNames.map((skill) => v.parse(header, splitSkill(skill).header));
  expect(headers.filter(({ always }) => always).map(({ name }) => name)).toEqual(["memory"]);
  expect(splitSkill("memory").body.length).toBeLessThan(3_000);
  const descriptions = headers.map(({ name, description }) => name + description).join("");
  expect(descriptions.length).toBeLessThan(2_500);
});

test.skipIf(Bun.which("shellcheck") === null)(
  "scripts of skills give shellcheck nothing to say (skipped where it is not installed)",
  () => {
    const scripts = [...new Bun.Glob("*/scripts/*").scanSync({ cwd: root, absolute: true })];
    expect(scripts.length).toBeGreaterThan(4);
    const checked = Bun.spawnSync(["shellcheck", "--shell=sh", ...scripts.map((script) => resolve(script))]);
    expect(checked.stdout.toString()).toBe("");
    expect(checked.exitCode).toBe(0);
  },
);

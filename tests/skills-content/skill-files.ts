/** The built-in skills as files: their folders, headers, and what their texts put into code. */

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";

export const root = resolve(import.meta.dir, "../../skills");

export const skillNames: readonly string[] = readdirSync(root).sort();

export function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** All files of a skill, below its folder. */
export function filesOf(skill: string): readonly string[] {
  return readdirSync(join(root, skill), { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, skill).length + 1))
    .sort();
}

/** What is between the lines of `---`, and what comes after. */
export function splitSkill(skill: string): { header: unknown; body: string } {
  const found = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(readText(`${skill}/SKILL.md`));
  if (found === null) throw new Error(`skills/${skill}/SKILL.md has no header`);
  return { header: parse(found[1] ?? ""), body: found[2] ?? "" };
}

export interface Code {
  /** As in `skills/cron/SKILL.md`, for whoever reads that a test failed. */
  readonly where: string;
  readonly skill: string;
  readonly text: string;
}

const texts = skillNames.flatMap((skill) =>
  filesOf(skill)
    .filter((file) => file.endsWith(".md"))
    .map((file) => ({ skill, where: `skills/${skill}/${file}`, text: readText(`${skill}/${file}`) })),
);

/** The blocks of code in a language. */
export function blocks(language: string): readonly Code[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return texts.flatMap(({ text, ...where }) =>
    [...text.matchAll(pattern)].map(([, code = ""]) => ({ ...where, text: code })),
  );
}

/** What stands between backticks within a line. */
export const spans: readonly Code[] = texts.flatMap(({ text, ...where }) =>
  [...text.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => ({
    ...where,
    text: code,
  })),
);

/** Spans, and the lines of blocks of commands. */
export const commandLines: readonly Code[] = [
  ...spans,
  ...blocks("sh").flatMap(({ text, ...where }) => text.split("\n").map((line) => ({ ...where, text: line }))),
];

/** The targets of links, without addresses of the web. */
export const links: readonly Code[] = texts.flatMap(({ text, ...where }) =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => ({ ...where, text: target }))
    .filter(({ text: target }) => !/^[a-z]+:/.test(target)),
);

/** `nanobot skills`: what the agent knows how to do, what is wrong with it, and a beginning for more. */

import type { App } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { Skill } from "../core/skills.ts";
import { decodeText } from "../lib/charset.ts";
import { explained, quote } from "../lib/file-error.ts";
import { nearest } from "../lib/nearest.ts";
import { join, resolve } from "../lib/path.ts";
import { isMissing } from "../lib/phrases.ts";
import { safeJson } from "../lib/safe-json.ts";
import { isSkillName, SKILL_NAME_RULE } from "../lib/skill-name.ts";
import { oneLine, stripControls } from "../lib/text.ts";
import { type CommandContext, defineCommand, type ExitCode, textOption } from "./command.ts";
import { masked } from "./masked.ts";
import { ensureWorkspace } from "./workspace.ts";

const LONGEST_LINE = 200;
const LONGEST_PROBLEM = 500;
/** More than any file that is used in full. */
const LONGEST_SHOWN = 1024 * 1024;

const SKILLS = "skills";
const FILE = "SKILL.md";
const FOLDER_MODE = 0o755;
const FILE_MODE = 0o644;

/** The built-in ones are put into the workspace, which gets no templates once it is there. */
async function skillsOf(app: App): Promise<readonly Skill[]> {
  await ensureWorkspace(app);
  return (await app.skills()).list();
}

function status({ isAlways, missing }: Skill): string {
  if (missing.length > 0) return `unavailable: ${isMissing(missing)}`;
  return isAlways ? "in every prompt" : "available";
}

async function list({ app, options }: CommandContext): Promise<ExitCode> {
  const { terminal } = app.platform;
  const found = masked(await skillsOf(app), app.mask);
  if (options["json"] === true) {
    terminal.out(`${safeJson(found, 2)}\n`);
    return 0;
  }
  if (found.length === 0) terminal.err('There are no skills. Make one with "nanobot skills new NAME"\n');
  for (const skill of found) {
    const { name, source, path, description, problems } = skill;
    const wrong = problems.length === 0 ? [] : [`problems: ${problems.length}, see "nanobot skills check"`];
    const lines = [`${name} (${source}; ${[status(skill), ...wrong].join("; ")})`, description, path];
    const [first = "", ...rest] = lines
      .map((line) => oneLine(line, LONGEST_LINE))
      .filter((line) => line !== "");
    terminal.out(`${[first, ...rest.map((line) => `  ${line}`)].join("\n")}\n`);
  }
  return 0;
}

function named(skills: readonly Skill[], name: string): Skill {
  const found = skills.find((skill) => skill.name === name);
  if (found !== undefined) return found;
  const meant = nearest(
    name,
    skills.map((skill) => skill.name),
  );
  throw new UserError(`There is no skill ${quote(name)}`, {
    hint:
      meant === undefined
        ? `A skill is a folder in "skills" with a ${FILE}. Run "nanobot skills list" for those there are`
        : `Did you mean ${quote(meant)}?`,
  });
}

async function show({ app, positionals }: CommandContext): Promise<ExitCode> {
  const { name, path } = named(await skillsOf(app), positionals[0] ?? "");
  const text = (await fileText(app, path)) ?? (await (await app.skills()).text(name)) ?? "";
  app.platform.terminal.out(app.mask(`${stripControls(text).trimEnd()}\n`));
  return 0;
}

/** `undefined` where the executable alone holds it. */
async function fileText({ platform: { files }, paths }: App, path: string): Promise<string | undefined> {
  const at = resolve((await paths()).workspace, path);
  return explained("read", path, async () => {
    if ((await files.stat(at)) === undefined) return undefined;
    return decodeText(await files.read(at, { end: LONGEST_SHOWN }), "", { markup: false });
  });
}

async function check({ app, positionals }: CommandContext): Promise<ExitCode> {
  const { terminal } = app.platform;
  const all = await skillsOf(app);
  const [name] = positionals;
  const meant = name === undefined ? all : [named(all, name)];
  const wrong = masked(meant, app.mask).flatMap(({ path, problems }) =>
    problems.map((problem) => oneLine(`${path}: ${problem}`, LONGEST_PROBLEM)),
  );
  for (const line of wrong) terminal.out(`${line}\n`);
  if (wrong.length > 0) return 1;
  terminal.out(`${meant.length === 1 ? "1 skill is" : `${meant.length} skills are`} as they should be\n`);
  return 0;
}

/** JSON texts are YAML too, whatever is in them. */
function template(name: string, description: string): string {
  return `---
name: ${name}
description: ${JSON.stringify(description)}
---

# ${name}

Say here, step by step, how it is done: which tools or commands, in which order, and what the result should look like.
Longer explanations go to files beside this one (references/), and what can be run to scripts/.
`;
}

async function make({ app, positionals, options }: CommandContext): Promise<ExitCode> {
  const [name = ""] = positionals;
  if (!isSkillName(name)) {
    throw new UserError(`Cannot make a skill ${quote(name)}: the name of a skill ${SKILL_NAME_RULE}`);
  }
  const given = textOption(options, "description")?.trim();
  const description = given || `What this skill does, and when to use it.`;
  await ensureWorkspace(app);
  const { files, terminal } = app.platform;
  const folder = join((await app.paths()).workspace, SKILLS, name);
  await explained("make", folder, async () => {
    if ((await files.linkStat(folder)) !== undefined) {
      throw new UserError(
        `Cannot make the skill ${quote(name)}: there is something at ${quote(folder)} already`,
      );
    }
    await files.makeFolder(folder, { mode: FOLDER_MODE });
    const text = new TextEncoder().encode(template(name, oneLine(description, LONGEST_PROBLEM)));
    await files.replace(join(folder, FILE), text, { mode: FILE_MODE });
  });
  terminal.out(`${oneLine(join(folder, FILE), LONGEST_PROBLEM)}\n`);
  return 0;
}

export const command = defineCommand({
  about: "Show, check and begin skills: texts by which the agent knows how something is done",
  subcommands: {
    list: {
      about: "List the skills, and what those that cannot be used need",
      options: { json: { type: "boolean", about: "print JSON" } },
      run: list,
    },
    show: { about: "Print a skill's file", positionals: ["NAME"], run: show },
    check: {
      about: "Say what is wrong with a skill, or with any of them",
      positionals: ["NAME?"],
      run: check,
    },
    new: {
      about: "Begin a skill in the workspace",
      positionals: ["NAME"],
      options: { description: { type: "string", value: "TEXT", about: "what it does, and when to use it" } },
      run: make,
    },
  },
});

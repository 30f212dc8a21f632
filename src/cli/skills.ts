/** `nanobot skills`: what the agent knows how to do, what is wrong with it, and a beginning for more. */

import type { App } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { SkillSurvey, SurveyedSkill } from "../core/skills.ts";
import { decodeText } from "../lib/charset.ts";
import { explained, quote } from "../lib/file-error.ts";
import { nearest } from "../lib/nearest.ts";
import { dirname, join, resolve } from "../lib/path.ts";
import { isMissing } from "../lib/phrases.ts";
import { safeJson } from "../lib/safe-json.ts";
import { foldSkillName, isSkillName, SKILL_NAME_RULE } from "../lib/skill-name.ts";
import { skillTemplate, TEMPLATE_DESCRIPTION } from "../lib/skill-template.ts";
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
const SCRIPT_MODE = 0o755;

const OFF = "agents.defaults.disabledSkills";
const wordOff = (name: string) =>
  `The skill ${quote(name)} is disabled by ${OFF}, so the agent does not see it`;

/** Only reads, so that to look does not make a workspace. */
async function surveyOf(app: App): Promise<SkillSurvey> {
  return (await app.skills()).survey();
}

function status({ isDisabled, isAlways, missing }: SurveyedSkill): string {
  if (isDisabled) return `disabled by ${OFF}`;
  if (missing.length > 0) return `unavailable: ${isMissing(missing)}`;
  return isAlways ? "in every prompt" : "available";
}

async function list({ app, options }: CommandContext): Promise<ExitCode> {
  const { terminal } = app.platform;
  const found = masked((await surveyOf(app)).skills, app.mask);
  if (options["json"] === true) {
    terminal.out(`${safeJson(found, 2)}\n`);
    return 0;
  }
  if (found.length === 0) terminal.err('There are no skills. Make one with "nanobot skills new NAME"\n');
  for (const skill of found) {
    const { name, source, path, description, problems } = skill;
    const wrong = problems.length === 0 ? [] : [`problems: ${problems.length}, see "nanobot skills check"`];
    const file = source === "workspace" ? [path] : [];
    const lines = [`${name} (${source}; ${[status(skill), ...wrong].join("; ")})`, description, ...file];
    const [first = "", ...rest] = lines
      .map((line) => oneLine(line, LONGEST_LINE))
      .filter((line) => line !== "");
    terminal.out(`${[first, ...rest.map((line) => `  ${line}`)].join("\n")}\n`);
  }
  return 0;
}

function named({ skills, without }: SkillSurvey, name: string): SurveyedSkill {
  const found = skills.find((skill) => skill.name === name);
  if (found !== undefined) return found;
  const meant = nearest(
    name,
    skills.map((skill) => skill.name),
  );
  const hint =
    meant === undefined
      ? `A skill is a folder in "${SKILLS}" with a ${FILE}. Run "nanobot skills list" for those there are`
      : `Did you mean ${quote(meant)}?`;
  throw new UserError(`There is no skill ${quote(name)}`, {
    hint: without.includes(name) ? `${quote(`${SKILLS}/${name}`)} ${NO_FILE}` : hint,
  });
}

function sayIfDisabled({ platform: { terminal } }: App, { name, isDisabled }: SurveyedSkill): void {
  if (isDisabled) terminal.err(`${oneLine(wordOff(name), LONGEST_PROBLEM)}\n`);
}

async function show({ app, positionals }: CommandContext): Promise<ExitCode> {
  const skill = named(await surveyOf(app), positionals[0] ?? "");
  const text =
    skill.source === "built-in" ? await builtInText(app, skill.name) : await fileText(app, skill.path);
  sayIfDisabled(app, skill);
  app.platform.terminal.out(app.mask(`${stripControls(text).trimEnd()}\n`));
  return 0;
}

const asText = (bytes: Uint8Array) => decodeText(bytes, "", { markup: false });

async function builtInText(app: App, name: string): Promise<string> {
  const [file] = await (await app.skills()).builtIn(name);
  return file === undefined ? "" : asText(file.bytes);
}

async function fileText({ platform: { files }, paths }: App, path: string): Promise<string> {
  const at = resolve((await paths()).workspace, path);
  return explained("read", path, async () => asText(await files.read(at, { end: LONGEST_SHOWN })));
}

async function check({ app, positionals }: CommandContext): Promise<ExitCode> {
  const { terminal } = app.platform;
  const survey = await surveyOf(app);
  const [name] = positionals;
  const one = name === undefined ? undefined : named(survey, name);
  if (one !== undefined) sayIfDisabled(app, one);
  const meant = one === undefined ? survey.skills.filter(({ isDisabled }) => !isDisabled) : [one];
  const wrong = [...meant.flatMap(problemsOf), ...(one === undefined ? problemsBeside(survey) : [])];
  for (const line of masked(wrong, app.mask)) terminal.out(`${oneLine(line, LONGEST_PROBLEM)}\n`);
  if (wrong.length > 0) return 1;
  terminal.out(`${meant.length === 1 ? "1 skill is" : `${meant.length} skills are`} as they should be\n`);
  return 0;
}

function problemsOf({ path, problems }: SurveyedSkill): readonly string[] {
  return problems.map((problem) => `${path}: ${problem}`);
}

/** What is wrong without being any skill's. */
function problemsBeside({ without, disabledInVain }: SkillSurvey): readonly string[] {
  return [
    ...without.map((name) => `${SKILLS}/${name}: it ${NO_FILE}`),
    ...disabledInVain.map((name) => `${OFF}: there is no skill ${quote(name)}`),
  ];
}

const NO_FILE = `has no ${FILE}, so that it is no skill`;

interface NewFile {
  /** Below the skill's folder. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isScript: boolean;
}

async function make({ app, positionals, options }: CommandContext): Promise<ExitCode> {
  const [name = ""] = positionals;
  if (!isSkillName(name)) {
    throw new UserError(`Cannot make a skill ${quote(name)}: the name of a skill ${SKILL_NAME_RULE}`);
  }
  const beginning = await beginningOf(app, name, options);
  await ensureWorkspace(app);
  const { files, terminal } = app.platform;
  const folder = join((await app.paths()).workspace, SKILLS, name);
  await explained("make", folder, async () => {
    if ((await files.linkStat(folder)) !== undefined) {
      throw new UserError(
        `Cannot make the skill ${quote(name)}: there is something at ${quote(folder)} already`,
      );
    }
    // The SKILL.md comes last: before it the folder is no skill.
    for (const { path, bytes, isScript } of beginning.toReversed()) {
      const at = join(folder, path);
      await files.makeFolder(dirname(at), { mode: FOLDER_MODE });
      await files.replace(at, bytes, { mode: isScript ? SCRIPT_MODE : FILE_MODE });
    }
  });
  terminal.out(`${oneLine(join(folder, FILE), LONGEST_PROBLEM)}\n`);
  return 0;
}

/** SKILL.md first. Throws a `UserError` where the skill would not be seen, or take the place of another unasked. */
async function beginningOf(
  app: App,
  name: string,
  options: CommandContext["options"],
): Promise<readonly NewFile[]> {
  const survey = await surveyOf(app);
  if ([...survey.disabledInVain, ...disabledOf(survey)].some((off) => foldSkillName(off) === name)) {
    throw new UserError(`Cannot make the skill ${quote(name)}: the agent would not see it`, {
      hint: `Take the name out of ${OFF} first, or choose another`,
    });
  }
  const description = textOption(options, "description")?.trim() || TEMPLATE_DESCRIPTION;
  const builtIn = await (await app.skills()).builtIn(name);
  const isCopy = options["from-built-in"] === true;
  if (isCopy && builtIn.length === 0) {
    throw new UserError(`Cannot copy the skill ${quote(name)}: none of that name is built in`, {
      hint: 'Run "nanobot skills list" for those there are',
    });
  }
  if (isCopy && options["description"] !== undefined) {
    throw new UserError("Cannot take --description with --from-built-in, which brings one", {
      hint: `Leave it out, and write it into the ${FILE} then`,
    });
  }
  if (isCopy) return builtIn;
  if (builtIn.length > 0) {
    throw new UserError(`Cannot make the skill ${quote(name)}: it would hide the built-in one`, {
      hint: "Say --from-built-in to begin with a copy of that, or choose another name",
    });
  }
  const text = skillTemplate(name, oneLine(description, LONGEST_PROBLEM));
  return [{ path: FILE, bytes: new TextEncoder().encode(text), isScript: false }];
}

const disabledOf = ({ skills }: SkillSurvey) =>
  skills.filter(({ isDisabled }) => isDisabled).map(({ name }) => name);

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
      options: {
        description: { type: "string", value: "TEXT", about: "what it does, and when to use it" },
        "from-built-in": { type: "boolean", about: "begin with a copy of the built-in one, in its place" },
      },
      run: make,
    },
  },
});

/** Skills: those of the workspace over the built-in ones, and what of them goes into prompts. */

import type { Assets, Clock, Environment, FileSystem, Log } from "../core/platform.ts";
import type { Skill, Skills, SkillsPrompt } from "../core/skills.ts";
import type { PinnedFiles } from "../core/tool.ts";
import { BUILT_IN_SKILLS } from "../lib/own-places.ts";
import { basename, join } from "../lib/path.ts";
import { skillCut, skillNamed } from "../lib/phrases.ts";
import { foldSkillName } from "../lib/skill-name.ts";
import { head } from "../lib/text.ts";
import { createAvailability } from "./availability.ts";
import { createBuiltInSkills, FILE } from "./built-in-skills.ts";
import { createBuiltInTree } from "./built-in-tree.ts";
import type { SkillEntry } from "./entry.ts";
import { createExtraction } from "./extraction.ts";
import { mentioned } from "./mentions.ts";
import { isIn, type ShownSkill, skillsPrompt } from "./prompt.ts";
import { createWorkspaceSkills, FOLDER, type FoundSkills } from "./workspace-skills.ts";

/** Of one message. */
const MOST_NAMED = 3;
/** In characters, of each of them. */
const LONGEST_NAMED = 24_000;

export interface SkillsOptions {
  readonly files: FileSystem;
  readonly pinned: Pick<PinnedFiles, "read">;
  readonly assets: Assets;
  /** Of this process. */
  readonly env: Environment;
  /** Whether a command of the model could run it. */
  readonly findProgram: (name: string) => Promise<boolean>;
  readonly os: string;
  readonly log: Log;
  readonly clock: Pick<Clock, "elapsed" | "now">;
  /** Absolute and real. */
  readonly workspace: string;
  /** Names of skills that are not to be there. */
  readonly disabled: readonly string[];
}

export interface WorkspaceSkills extends Skills {
  /** For `ToolFiles`: where `skills/<name>/…` of a built-in skill is, when the workspace has none of that name. Absolute. */
  standIn(path: string): Promise<string | undefined>;
}

interface FoundSkill extends ShownSkill {
  readonly entry: SkillEntry;
}

/** Cheap, and touches nothing. The built-in skills are put into the workspace when a path of theirs is first needed. */
export function createSkills({
  files,
  pinned,
  assets,
  env,
  findProgram,
  os,
  log,
  clock,
  workspace,
  disabled,
}: SkillsOptions): WorkspaceSkills {
  // A capital letter is no reason to go on with what the owner does not want.
  const off = new Set(disabled.map(foldSkillName));
  const isOff = ({ name }: SkillEntry) => off.has(foldSkillName(name));
  const tree = createBuiltInTree(assets);
  const extract = createExtraction({ files, assets, tree, log, clock, workspace });
  const builtIns = createBuiltInSkills(assets, tree);
  const ownSkills = createWorkspaceSkills({ files, pinned, log, workspace });
  const missingOf = createAvailability({ env, os, findProgram, clock });
  let last: SkillsPrompt | undefined;

  async function everything(): Promise<FoundSkills> {
    const { skills: own, without } = await ownSkills();
    const names = new Set(own.map(({ name }) => name));
    const all = [...own, ...(await builtIns()).filter(({ name }) => !names.has(name))];
    return { skills: all.sort((one, other) => (one.name < other.name ? -1 : 1)), without };
  }

  const entries = async () => (await everything()).skills.filter((entry) => !isOff(entry));

  async function skillOf(entry: SkillEntry, builtInFolder: string): Promise<Skill> {
    const { name, source, file, facts, problems } = entry;
    return {
      name,
      source,
      description: facts?.description ?? "",
      path: `${source === "built-in" ? builtInFolder : FOLDER}/${name}/${file}`,
      isAlways: facts?.isAlways ?? false,
      missing: facts === undefined ? [`a ${file} that can be used`] : await missingOf(facts.needs),
      problems,
    };
  }

  async function found(): Promise<readonly FoundSkill[]> {
    const all = await entries();
    const isExtracted = all.some(({ source }) => source === "built-in") && (await extract()) !== undefined;
    const builtInFolder = isExtracted ? `${BUILT_IN_SKILLS}/${(await tree()).digest}` : FOLDER;
    return Promise.all(
      all.map(async (entry): Promise<FoundSkill> => {
        return { skill: await skillOf(entry, builtInFolder), entry, opening: entry.opening };
      }),
    );
  }

  const readable = async () => (await found()).filter(({ entry }) => entry.facts !== undefined);

  async function textOf({ name, readText }: SkillEntry): Promise<string | undefined> {
    try {
      return await readText();
    } catch (error) {
      log.warn("Could not read a skill", { name, error });
      return undefined;
    }
  }

  async function namedBlock({ skill, entry }: FoundSkill): Promise<string | undefined> {
    const text = await textOf(entry);
    if (text === undefined) return undefined;
    const { name, path, missing } = skill;
    const folder = path.slice(0, -basename(path).length - 1);
    const isLong = text.length > LONGEST_NAMED;
    const shown = isLong ? `${head(text, LONGEST_NAMED)}\n${skillCut(`\`${path}\``)}` : text;
    return `${skillNamed(name, folder, missing)}\n\n${shown}`;
  }

  return {
    async list() {
      return (await found()).map(({ skill }) => skill);
    },

    async survey() {
      const { skills: all, without } = await everything();
      const known = new Set(all.map(({ name }) => foldSkillName(name)));
      return {
        skills: await Promise.all(
          all.map(async (entry) => ({ ...(await skillOf(entry, FOLDER)), isDisabled: isOff(entry) })),
        ),
        without,
        disabledInVain: disabled.filter((name) => !known.has(foldSkillName(name))),
      };
    },

    async builtIn(name) {
      const folder = `${name}/`;
      const own = (await tree()).files.filter(({ path }) => path.startsWith(folder));
      const found = await Promise.all(
        own.map(async ({ path, isScript }) => ({
          path: path.slice(folder.length),
          isScript,
          bytes: await assets.bytes("skills", path),
        })),
      );
      return found.sort((one, other) => Number(other.path === FILE) - Number(one.path === FILE));
    },

    async text(name) {
      const entry = (await entries()).find((one) => one.name === name && one.facts !== undefined);
      return entry && textOf(entry);
    },

    async prompt() {
      const now = skillsPrompt(await readable());
      if (last?.active !== now.active || last.summary !== now.summary) last = now;
      return last;
    },

    async named(message) {
      if (!message.includes("$")) return "";
      const all = await readable();
      const prompt = skillsPrompt(all);
      const usable = new Map(
        all.filter(({ skill }) => !isIn(prompt, skill)).map((one) => [one.entry.name, one]),
      );
      const blocks: string[] = [];
      for (const name of mentioned(message, usable.keys(), MOST_NAMED)) {
        const one = usable.get(name);
        const block = one && (await namedBlock(one));
        if (block !== undefined) blocks.push(block);
      }
      return blocks.join("\n\n");
    },

    async standIn(path) {
      const [top, name, ...rest] = path.split("/");
      if (top !== FOLDER || name === undefined) return undefined;
      const entry = (await entries()).find((one) => one.name === name);
      const root = entry?.source === "built-in" ? await extract() : undefined;
      return root && join(root, name, ...rest);
    },
  };
}

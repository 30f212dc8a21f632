/** Reads what the system prompt is made of, again only when it has changed. */

import { Buffer } from "node:buffer";
import type { SystemMessage } from "../core/model.ts";
import type { Assets, FileStat, Log } from "../core/platform.ts";
import type { Skills, SkillsPrompt } from "../core/skills.ts";
import type { ToolFiles } from "../core/tool.ts";
import { isSameFile } from "../lib/same-file.ts";
import { wellFormed } from "../lib/text.ts";
import {
  memoryFiles,
  type PromptFacts,
  type PromptFile,
  type PromptParts,
  promptFiles,
  systemPrompt,
} from "./prompt.ts";

/** More of a file is not read; the prompt takes less. */
const READ_BYTES = 256 * 1024;

interface Known {
  readonly stat: FileStat;
  readonly file: PromptFile;
}

export interface PromptSourceOptions {
  /** What the agent may read: a link in the workspace must not carry a foreign file to a provider. */
  readonly files: ToolFiles;
  readonly assets: Assets;
  readonly log: Log;
  readonly facts: PromptFacts;
  /** Left out where there are none. */
  readonly skills?: Pick<Skills, "prompt">;
  /** `YYYY-MM-DD`, in the agent's zone. */
  readonly today: () => string;
}

const noSkills: SkillsPrompt = { active: "", summary: "" };

function areSame(one: readonly PromptFile[], other: readonly PromptFile[]): boolean {
  return one.length === other.length && one.every((file, index) => file === other[index]);
}

export type PromptSource = () => Promise<SystemMessage>;

/**
 * A function that gives the prompt as the workspace has it now, and the same message as long as nothing has
 * changed. A file that cannot be read is left out.
 */
export function createPromptSource(options: PromptSourceOptions): PromptSource {
  const { files, assets, log, facts, skills, today } = options;
  const known = new Map<string, Known>();
  const reported = new Set<string>();
  let last: { readonly parts: PromptParts; readonly message: SystemMessage } | undefined;
  let templates: Promise<readonly string[]> | undefined;

  async function templateOf(name: string): Promise<string | undefined> {
    templates ??= assets.list("workspace");
    return (await templates).includes(name) ? assets.read("workspace", name) : undefined;
  }

  async function read(name: string): Promise<PromptFile | undefined> {
    const { system } = files;
    const path = await files.resolve(name, "read");
    const stat = await system.stat(path);
    if (stat?.kind !== "file") return undefined;
    const before = known.get(name);
    if (before && isSameFile(before.stat, stat)) return before.file;
    const text = wellFormed(Buffer.from(await system.read(path, { end: READ_BYTES })).toString("utf8"));
    const file = { name, text, template: await templateOf(name) };
    known.set(name, { stat, file });
    return file;
  }

  function leftOut(name: string, error: unknown): undefined {
    if (!reported.has(name)) log.warn("Left a part out of the prompt", { name, error });
    reported.add(name);
    return undefined;
  }

  async function readAll(names: readonly string[]): Promise<readonly PromptFile[]> {
    const found = await Promise.all(
      names.map((name) => read(name).catch((error: unknown) => leftOut(name, error))),
    );
    return found.filter((file) => file !== undefined);
  }

  /** The notes of a day that is over. */
  function forget(name: string): void {
    known.delete(name);
    reported.delete(name);
  }

  return async () => {
    const ofMemory = memoryFiles(today());
    for (const name of known.keys()) {
      if (name.startsWith("memory/") && !ofMemory.includes(name)) forget(name);
    }
    const parts: PromptParts = {
      files: await readAll(promptFiles),
      skills: (await skills?.prompt().catch((error: unknown) => leftOut("skills", error))) ?? noSkills,
      memory: await readAll(ofMemory),
    };
    if (last === undefined || !areSameParts(last.parts, parts)) {
      last = { parts, message: { role: "system", content: systemPrompt(facts, parts) } };
    }
    return last.message;
  };
}

function areSameParts(one: PromptParts, other: PromptParts): boolean {
  return areSame(one.files, other.files) && one.skills === other.skills && areSame(one.memory, other.memory);
}

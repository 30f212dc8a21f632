/** A skill as it was found, before it is known what this machine has of what it needs. */

import type { Skill } from "../core/skills.ts";
import { head } from "../lib/text.ts";
import { type Facts, readFacts } from "./facts.ts";
import { splitSkill } from "./skill-text.ts";

export interface SkillEntry {
  /** That of its folder. */
  readonly name: string;
  readonly source: Skill["source"];
  /** What its SKILL.md is called. */
  readonly file: string;
  /** `undefined` where that cannot be read. */
  readonly facts: Facts | undefined;
  /** In words. */
  readonly problems: readonly string[];
  /** The beginning of the text of one that is always there. */
  readonly opening: string;
  /** The text behind the header. Rejects where it cannot be read any more. */
  readText(): Promise<string>;
}

/** In characters, of all texts together that are always in the prompt. */
export const LONGEST_ACTIVE = 32_000;

export interface ReadEntry extends Pick<SkillEntry, "name" | "source" | "file"> {
  readonly bytes: Uint8Array;
  /** What is wrong beside what stands in the file. */
  readonly problems: readonly string[];
  /** Reads the file once more. */
  readonly read: () => Promise<Uint8Array>;
}

export async function readEntry({ bytes, problems, read, ...place }: ReadEntry): Promise<SkillEntry> {
  const text = splitSkill(bytes);
  const facts = await readFacts(text, place.name);
  return {
    ...place,
    facts,
    problems: [...problems, ...facts.problems],
    // One more than is shown, so that it is seen to be cut.
    opening: facts.isAlways ? head(text.body, LONGEST_ACTIVE + 1) : "",
    readText: async () => splitSkill(await read()).body,
  };
}

export function brokenEntry(
  place: Pick<SkillEntry, "name" | "source" | "file">,
  problem: string,
): SkillEntry {
  return { ...place, facts: undefined, problems: [problem], opening: "", readText: async () => "" };
}

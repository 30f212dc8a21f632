/** The names that `tools.web.search.provider` may have. */

import { nearest } from "./nearest.ts";

export const ENGINE_NAMES = [
  "duckduckgo",
  "brave",
  "tavily",
  "searxng",
  "jina",
  "kagi",
  "exa",
  "serper",
] as const;

export type EngineName = (typeof ENGINE_NAMES)[number];

/** Engines that the original asks and nanobot does not: a configuration that names one is not wrong. */
const OF_THE_ORIGINAL: readonly string[] = ["bocha", "keenable", "mst", "olostep", "volcengine"];

/** As people write it: any case, spaces around. `undefined` when it is not set at all. */
export function readEngineName(text: string | undefined): string | undefined {
  const name = text?.trim().toLowerCase() ?? "";
  return name === "" ? undefined : name;
}

/** For whoever named another. */
export function noSuchEngine(name: string): string {
  const suggestion = nearest(name, ENGINE_NAMES);
  const all = ENGINE_NAMES.join(", ");
  const advice = suggestion === undefined ? `choose from ${all}` : `did you mean "${suggestion}"? (${all})`;
  return `there is no search engine of this name; ${advice}`;
}

export function isEngineName(name: string): name is EngineName {
  return (ENGINE_NAMES as readonly string[]).includes(name);
}

export function isEngineOfTheOriginal(name: string): boolean {
  return OF_THE_ORIGINAL.includes(name);
}

/** The names that `tools.web.search.provider` may have. */

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

export function isEngineName(name: string): name is EngineName {
  return (ENGINE_NAMES as readonly string[]).includes(name);
}

export function isEngineOfTheOriginal(name: string): boolean {
  return OF_THE_ORIGINAL.includes(name);
}

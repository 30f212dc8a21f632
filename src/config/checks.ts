/** What a schema cannot say: settings that contradict each other, and settings without effect so far. */

import type { Config } from "./schema.ts";
import type { Path } from "./shape.ts";

export interface Problem {
  readonly path: Path;
  /** What is wrong there. Never holds a value. */
  readonly text: string;
}

/** The original's keys that are read and do nothing yet. Who builds one takes its line away. */
const unsupported: readonly Path[] = [
  ["agents", "defaults", "modelPreset"],
  ["agents", "defaults", "contextBlockLimit"],
  ["agents", "defaults", "fallbackModels"],
  ["agents", "defaults", "providerRetryMode"],
  ["agents", "defaults", "unifiedSession"],
  ["agents", "defaults", "dream"],
  ["api"],
  ["tools", "cliApps"],
  ["tools", "exec", "allowPatterns"],
  ["tools", "exec", "denyPatterns"],
  ["tools", "exec", "sandbox"],
  ["tools", "imageGeneration"],
  ["tools", "mcpServers"],
  ["tools", "my"],
  ["tools", "web"],
  ["transcription"],
];

/** A warning for each unsupported part that somebody set to something else than its default. */
export function unsupportedWarnings(config: Config, defaults: Config): string[] {
  return unsupported
    .filter((path) => JSON.stringify(valueAt(config, path)) !== JSON.stringify(valueAt(defaults, path)))
    .map((path) => `${path.join(".")} is not supported yet and has no effect`);
}

function valueAt(value: unknown, path: Path): unknown {
  let part = value;
  for (const key of path)
    part = typeof part === "object" && part !== null ? Reflect.get(part, key) : undefined;
  return part;
}

/** The first setting that another one contradicts. */
export function findContradiction(config: Config): Problem | undefined {
  const { agents, modelPresets, api } = config;
  const hasPreset = (name: string) => Object.hasOwn(modelPresets, name);
  if (hasPreset("default")) {
    return {
      path: ["modelPresets", "default"],
      text: "this name stands for agents.defaults; choose another",
    };
  }
  const missing = "there is no preset of this name in modelPresets";
  const { modelPreset, fallbackModels, dream } = agents.defaults;
  if (modelPreset !== undefined && modelPreset !== "default" && !hasPreset(modelPreset)) {
    return { path: ["agents", "defaults", "modelPreset"], text: missing };
  }
  const badFallback = fallbackModels.findIndex((model) => typeof model === "string" && !hasPreset(model));
  if (badFallback !== -1) {
    return { path: ["agents", "defaults", "fallbackModels", badFallback], text: missing };
  }
  if (dream.modelOverride !== undefined && !hasPreset(dream.modelOverride)) {
    return { path: ["agents", "defaults", "dream", "modelOverride"], text: missing };
  }
  const isOpen = api.host === "0.0.0.0" || api.host === "::";
  if (isOpen && api.apiKey === "") {
    return { path: ["api", "host"], text: "an API that everybody can reach needs api.apiKey" };
  }
  return undefined;
}

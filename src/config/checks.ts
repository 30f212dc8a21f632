/** What a schema cannot say: settings that contradict each other, and settings without effect so far. */

import * as v from "valibot";
import { isEngineName, isEngineOfTheOriginal, noSuchEngine, readEngineName } from "../lib/engine-names.ts";
import { nearest } from "../lib/nearest.ts";
import { enabledChannels } from "./channel-section.ts";
import { showPath } from "./keys.ts";
import { type Config, channelNames, configSchema } from "./schema.ts";
import { type Path, valueAt } from "./shape.ts";

export interface Problem {
  readonly path: Path;
  /** What is wrong there. Never holds a value. */
  readonly text: string;
}

/** The original's settings that are read and do nothing yet. Who builds one takes its line away. */
export const unsupported: readonly string[] = [
  "agents.defaults.botIcon",
  "agents.defaults.botName",
  "agents.defaults.dream",
  "agents.defaults.failOnToolError",
  "api",
  "providers.*.profile",
  "providers.*.proxy",
  "providers.*.region",
  "tools.cliApps",
  "tools.imageGeneration",
  "tools.maxSessionMessagesPerMinute",
  "tools.mcpServers",
  "tools.my",
  "transcription",
];

/** Settings that are only there so that the original's files are understood. */
export const kept: readonly string[] = [
  "agents.defaults.timezoneMode",
  "channels.extractDocumentText",
  "channels.transcriptionLanguage",
  "channels.transcriptionProvider",
  "tools.webuiAllowLocalServiceAccess",
  "tools.webuiAllowRemotePackageInstall",
];

/** Values beside the default that ask for what is done anyway. */
const satisfied: Readonly<Record<string, string>> = {
  "agents.defaults.timezoneMode": "manual",
};

/** A warning for each setting without effect that somebody set to something else than its default. */
export function unsupportedWarnings(config: Config): string[] {
  const names = Object.keys(config.providers);
  const defaults = v.parse(configSchema, { providers: Object.fromEntries(names.map((name) => [name, {}])) });
  const changed = (pattern: string) =>
    placesOf(pattern, names).filter((path) => {
      const value = valueAt(config, path);
      const isSatisfied = value !== undefined && value === satisfied[pattern];
      return !isSatisfied && JSON.stringify(value) !== JSON.stringify(valueAt(defaults, path));
    });
  return [
    ...unsupported.flatMap(changed).map((path) => `${showPath(path)} is not supported yet and has no effect`),
    ...unknownChannelWarnings(config),
    ...kept.flatMap(changed).map((path) => `${showPath(path)} has no effect`),
  ];
}

function unknownChannelWarnings(config: Config): string[] {
  return enabledChannels(config)
    .filter((name) => !channelNames.includes(name))
    .map((name) => {
      const meant = nearest(name, channelNames);
      const question = meant === undefined ? "" : `; did you mean "${meant}"?`;
      return `${showPath(["channels", name])} is not supported yet and has no effect${question}`;
    });
}

function placesOf(pattern: string, providers: readonly string[]): readonly Path[] {
  const keys = pattern.split(".");
  if (!keys.includes("*")) return [keys];
  return providers.map((name) => keys.map((key) => (key === "*" ? name : key)));
}

const NO_PRESET = "there is no preset of this name in modelPresets";

/** The first setting that another one contradicts, so that nobody could say what is meant. */
export function findContradiction({ agents, modelPresets, tools }: Config): Problem | undefined {
  if (Object.hasOwn(modelPresets, "default")) {
    return {
      path: ["modelPresets", "default"],
      text: "this name stands for agents.defaults; choose another",
    };
  }
  const { modelPreset } = agents.defaults;
  if (modelPreset !== undefined && modelPreset !== "default" && !Object.hasOwn(modelPresets, modelPreset)) {
    return { path: ["agents", "defaults", "modelPreset"], text: NO_PRESET };
  }
  const engine = readEngineName(tools.web.search.provider);
  if (engine !== undefined && !isKnownEngine(engine)) {
    return { path: SEARCH_PROVIDER, text: noSuchEngine(engine) };
  }
  return undefined;
}

const SEARCH_PROVIDER: Path = ["tools", "web", "search", "provider"];

/** What a variable stands for is known only when somebody searches. */
function isKnownEngine(name: string): boolean {
  return isEngineName(name) || isEngineOfTheOriginal(name) || name.includes("${");
}

/** Contradictions that stop nobody from starting: what is contradicted is passed over, or nothing uses it yet. */
export function contradictionWarnings({ agents, modelPresets, api, gateway, tools }: Config): string[] {
  const hasPreset = (name: string) => Object.hasOwn(modelPresets, name);
  const { fallbackModels, dream } = agents.defaults;
  const problems: Problem[] = fallbackModels.flatMap((model, index) =>
    typeof model === "string" && !hasPreset(model)
      ? [{ path: ["agents", "defaults", "fallbackModels", index], text: NO_PRESET }]
      : [],
  );
  if (dream.modelOverride !== undefined && !hasPreset(dream.modelOverride)) {
    problems.push({ path: ["agents", "defaults", "dream", "modelOverride"], text: NO_PRESET });
  }
  const engine = readEngineName(tools.web.search.provider);
  if (engine !== undefined && isEngineOfTheOriginal(engine)) {
    problems.push({
      path: SEARCH_PROVIDER,
      text: "this search engine is not supported; DuckDuckGo is asked instead",
    });
  }
  const isOpen = (host: string) => host === "0.0.0.0" || host === "::";
  if (isOpen(gateway.host)) {
    problems.push({
      path: ["gateway", "host"],
      text: "everybody in your network reaches the gateway; a tunnel needs no more than 127.0.0.1",
    });
  }
  if (isOpen(api.host) && api.apiKey === "") {
    problems.push({ path: ["api", "host"], text: "an API that everybody can reach needs api.apiKey" });
  }
  return problems.map(({ path, text }) => `${showPath(path)}: ${text}`);
}

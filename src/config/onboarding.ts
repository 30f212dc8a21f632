/** What a set-up changes in the configuration, decided from answers alone. */

import type { VendorInfo } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { Environment } from "../core/platform.ts";
import { isHttpAddress } from "../lib/http-address.ts";
import { modelNameProblem } from "../lib/model-name.ts";
import { nearest } from "../lib/nearest.ts";
import { findSameName, isSameName } from "../lib/same-name.ts";
import { shown } from "./keys.ts";
import type { RawConfig } from "./load.ts";
import type { Config } from "./schema.ts";

/** What somebody said, by flag or in the wizard. Absent is left as it is. */
export interface Answers {
  readonly provider?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly apiBase?: string | undefined;
  readonly model?: string | undefined;
}

export interface SetupFacts {
  readonly vendors: readonly VendorInfo[];
  /** What the file says now. */
  readonly config: Config;
  readonly env: Environment;
}

export interface Plan {
  /** For the configuration file. */
  readonly changes: RawConfig;
  /** `openrouter, anthropic/claude…`, where a model was chosen. */
  readonly model: string | undefined;
  /** Sentences about what is still missing. */
  readonly notes: readonly string[];
}

/** The name of a provider that is nobody we know. */
export const CUSTOM = "custom";

/** What a new file begins with, so that whoever opens it sees where things go. */
export const emptyConfig: RawConfig = {
  agents: { defaults: {} },
  providers: {},
  channels: {},
  access: { pairing: true },
  tools: {},
};

/** Throws a `UserError` when the answers are not enough to talk to a model with. */
export function planSetup(answers: Answers, facts: SetupFacts): Plan {
  checkAnswers(answers, facts);
  const name = providerName(answers, facts);
  if (name === undefined) return planWithoutProvider(answers, facts.config);
  const provider = findProvider(name, answers.apiBase, facts);
  const model = answers.model?.trim() ?? provider.model;
  if (model === undefined) {
    throw new UserError(`Set up ${shown(provider.name)}: its model is not named`, {
      hint: "Add --model NAME",
    });
  }
  const apiKey = answers.apiKey?.trim();
  const block = {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(answers.apiBase === undefined ? {} : { apiBase: answers.apiBase.trim() }),
  };
  // A preset would win over what was just chosen.
  const preset = facts.config.agents.defaults.modelPreset === undefined ? {} : { modelPreset: null };
  return {
    changes: {
      agents: { defaults: { ...preset, provider: provider.name, model } },
      ...(Object.keys(block).length === 0 ? {} : { providers: { [provider.blockName]: block } }),
    },
    model: `${provider.name}, ${model}`,
    notes: apiKey === undefined ? missingKey(provider, facts.env) : [],
  };
}

/** Throws a `UserError` for an answer that cannot be right, whatever the others will be. */
export function checkAnswers(answers: Answers, { vendors, config }: SetupFacts): void {
  for (const [flag, problem] of problemsIn(answers)) throw new UserError(`Read --${flag}: ${problem}`);
  const name = answers.provider?.trim();
  if (name === undefined || name === CUSTOM || answers.apiBase !== undefined) return;
  const isKnown =
    vendorNamed(name, vendors) !== undefined ||
    findSameName(name, Object.keys(config.providers)) !== undefined;
  if (!isKnown) throw unknownProvider(name, vendors);
}

function planWithoutProvider({ apiKey, model }: Answers, { agents }: Config): Plan {
  if (apiKey !== undefined) {
    throw new UserError("Set up the model: --api-key does not say whose key it is", {
      hint: "Add --provider NAME",
    });
  }
  const name = model?.trim();
  const hasModel = (name ?? agents.defaults.model ?? agents.defaults.modelPreset) !== undefined;
  return {
    changes: name === undefined ? {} : { agents: { defaults: { model: name } } },
    model: name,
    notes: hasModel ? [] : ["No model is set: without a key nanobot answers with its offline stand-in"],
  };
}

/** The provider that was named or can be told from the other answers. */
function providerName({ provider, apiBase, apiKey, model }: Answers, facts: SetupFacts): string | undefined {
  if (provider !== undefined) return provider.trim();
  const current = facts.config.agents.defaults.provider;
  const isCurrentSet = current !== "auto";
  if (apiBase !== undefined) return isCurrentSet ? current : CUSTOM;
  if (apiKey === undefined) return undefined;
  if (isCurrentSet) return current;
  const prefix = model?.includes("/") ? model.split("/")[0] : undefined;
  return prefix === undefined ? undefined : vendorNamed(prefix, facts.vendors)?.name;
}

interface Provider {
  readonly name: string;
  /** Its key in `providers`, as the file spells it. */
  readonly blockName: string;
  readonly keyVariable: string | undefined;
  /** It is known that it takes one. */
  readonly needsKey: boolean;
  readonly hasKey: boolean;
  /** The model to take when none was named. */
  readonly model: string | undefined;
}

function findProvider(
  wanted: string,
  apiBase: string | undefined,
  { vendors, config }: SetupFacts,
): Provider {
  const vendor = vendorNamed(wanted, vendors);
  const blockName = findSameName(vendor?.name ?? wanted, Object.keys(config.providers));
  const block = blockName === undefined ? undefined : config.providers[blockName];
  const name = vendor?.name ?? blockName ?? wanted;
  if (!(apiBase ?? block?.apiBase ?? vendor?.baseUrl)) {
    throw new UserError(`Set up ${shown(name)}: its address is not known`, { hint: "Add --api-base URL" });
  }
  const { defaults } = config.agents;
  const isCurrent = isSameName(name, defaults.provider);
  return {
    name,
    blockName: blockName ?? name,
    keyVariable: vendor?.keyVariable || undefined,
    needsKey: vendor !== undefined && vendor.local !== true,
    hasKey: Boolean(block?.apiKey),
    model: (isCurrent ? defaults.model : undefined) ?? vendor?.defaultModel,
  };
}

/** The row of a provider that is known by itself. */
export function vendorNamed(name: string, vendors: readonly VendorInfo[]): VendorInfo | undefined {
  const known = findSameName(
    name,
    vendors.map((vendor) => vendor.name),
  );
  return vendors.find((vendor) => vendor.name === known);
}

function unknownProvider(wanted: string, vendors: readonly VendorInfo[]): UserError {
  const meant = nearest(
    wanted,
    vendors.map((vendor) => vendor.name),
  );
  const question = meant === undefined ? "" : `Did you mean "${meant}"? `;
  return new UserError(`Set up "${shown(wanted)}": there is no provider of this name`, {
    hint: `${question}For one of your own add --api-base URL`,
  });
}

function missingKey({ name, keyVariable, needsKey, hasKey }: Provider, env: Environment): string[] {
  if (!needsKey || hasKey || (keyVariable !== undefined && env[keyVariable])) return [];
  const variable = keyVariable === undefined ? "" : `set ${keyVariable}, or `;
  return [`There is no key for ${name} yet: ${variable}run onboard again with --api-key`];
}

function* problemsIn({
  provider,
  apiKey,
  apiBase,
  model,
}: Answers): Generator<[flag: string, problem: string]> {
  const checks: readonly [string, string | undefined, (value: string) => string | undefined][] = [
    ["provider", provider, providerProblem],
    ["api-key", apiKey, apiKeyProblem],
    ["api-base", apiBase, apiBaseProblem],
    ["model", model, modelNameProblem],
  ];
  for (const [flag, value, check] of checks) {
    const problem = value === undefined ? undefined : check(value);
    if (problem !== undefined) yield [flag, problem];
  }
}

function providerProblem(value: string): string | undefined {
  const name = value.trim();
  if (name === "auto") return '"auto" is no provider; leave the flag out';
  return /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(name)
    ? undefined
    : "expected a name of letters, digits, - and _";
}

/** Why a key cannot be one. Never holds the key. */
export function apiKeyProblem(value: string): string | undefined {
  const key = value.trim();
  if (key === "") return "expected a key, found nothing";
  return /^[\x21-\x7e]+$/.test(key)
    ? undefined
    : "a key has no spaces and only plain letters, digits and signs";
}

export function apiBaseProblem(value: string): string | undefined {
  return isHttpAddress(value) ? undefined : "expected an address that begins with https:// or http://";
}

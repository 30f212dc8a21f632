/** Every provider a model could be asked of, with what the configuration and the environment say of it. */

import type { Environment } from "../../core/platform.ts";
import { isSameName } from "../../lib/same-name.ts";
import { oneLine } from "../../lib/text.ts";
import type { Vendor } from "./vendor.ts";
import { vendors } from "./vendors.ts";

/** One entry of `providers`, as the configuration holds it, variables included. Blank counts as absent. */
export interface ProviderSettings {
  readonly apiKey?: string | null | undefined;
  readonly apiBase?: string | null | undefined;
  readonly apiType?: "auto" | "chat_completions" | "responses" | undefined;
  readonly thinkingStyle?: "thinking_type" | "enable_thinking" | "reasoning_split" | undefined;
  readonly displayName?: string | null | undefined;
  readonly extraHeaders?: Readonly<Record<string, string>> | null | undefined;
  readonly extraBody?: Readonly<Record<string, unknown>> | null | undefined;
  readonly extraQuery?: Readonly<Record<string, unknown>> | null | undefined;
}

/** A vendor, or an endpoint of the user's own, which has no row. */
export interface Candidate {
  readonly name: string;
  readonly vendor: Vendor | undefined;
  readonly settings: ProviderSettings;
  /** What the user calls it, if they do. */
  readonly displayName: string | undefined;
  readonly apiBase: string | undefined;
  readonly apiKey: string | undefined;
  /** The key with its variables filled in; absent when one is not set. */
  readonly plainKey: string | undefined;
  readonly keySource: "config" | "environment" | undefined;
  /** Its key is meant for it, and not for the owner of a variable it shares. */
  readonly hasOwnKey: boolean;
}

/** Vendors in the order of their rows, then the user's own endpoints in the order of the configuration. */
export function candidatesOf(
  providers: Readonly<Record<string, ProviderSettings>>,
  env: Environment,
): readonly Candidate[] {
  const entries = Object.entries(providers);
  const known = vendors.map((vendor) => {
    const settings = entries.find(([name]) => isSameName(name, vendor.name))?.[1] ?? {};
    return candidate(vendor.name, vendor, settings, env);
  });
  const own = entries
    .filter(([name]) => !vendors.some((vendor) => isSameName(vendor.name, name)))
    .map(([name, settings]) => candidate(name, undefined, settings, env));
  return [...known, ...own];
}

function candidate(
  name: string,
  vendor: Vendor | undefined,
  settings: ProviderSettings,
  env: Environment,
): Candidate {
  const configured = filled(settings.apiKey);
  const fromEnv = vendor?.keyVariable === undefined ? undefined : filled(env[vendor.keyVariable]);
  const apiKey = configured ?? fromEnv;
  return {
    name,
    vendor,
    settings,
    displayName: filled(oneLine(settings.displayName ?? "", 60)),
    apiBase: filled(settings.apiBase),
    apiKey,
    plainKey: configured === undefined ? fromEnv : withVariables(configured, env),
    keySource: configured ? "config" : fromEnv ? "environment" : undefined,
    hasOwnKey: configured !== undefined || (fromEnv !== undefined && vendor?.sharesVariable !== true),
  };
}

export function filled(text: string | null | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed ? trimmed : undefined;
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** `text` with its variables filled in; `undefined` when one of them is not set. */
export function withVariables(text: string, env: Environment): string | undefined {
  let isComplete = true;
  const result = text.replace(VARIABLE, (_, name: string) => {
    const value = env[name];
    isComplete &&= value !== undefined;
    return value ?? "";
  });
  return isComplete ? result : undefined;
}

/** The first variable that `text` asks for. */
export function variableIn(text: string): string | undefined {
  return [...text.matchAll(VARIABLE)][0]?.[1];
}

/** Whether it could be called when somebody names it: a key, a local server, or an address of the user's own. */
export function isUsable({ vendor, apiKey, apiBase }: Candidate): boolean {
  if (!vendor) return apiBase !== undefined;
  return apiKey !== undefined || vendor.local === true || apiBase !== undefined;
}

export function labelOf({ displayName, vendor, name }: Candidate): string {
  return displayName ?? vendor?.label ?? name;
}

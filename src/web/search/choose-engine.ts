/** Which search engine is asked, with which key, and why it may be another than the configured one. */

import type { Environment } from "../../core/platform.ts";
import {
  ENGINE_NAMES,
  type EngineName,
  isEngineName,
  isEngineOfTheOriginal,
  noSuchEngine,
  readEngineName,
} from "../../lib/engine-names.ts";
import { isHttpAddress } from "../../lib/http-address.ts";
import { clip } from "../../lib/text.ts";
import type { SearchEngine } from "./engine.ts";
import { engines } from "./engines.ts";

/** `tools.web.search`, its variables filled in. */
export interface SearchSettings {
  readonly provider?: string | undefined;
  readonly apiKey: string;
  /** There is a key in the configuration, be it only the name of a variable that is not set. */
  readonly isKeyMeant: boolean;
  readonly baseUrl: string;
  /** Hits, unless a call asks for another number. */
  readonly maxResults: number;
  /** Seconds. */
  readonly timeout: number;
}

/** A key or an address, and where it came from. */
export interface Credential {
  readonly value: string;
  readonly source: string;
}

export type EngineChoice =
  | {
      readonly ok: true;
      readonly engine: SearchEngine;
      readonly credential: Credential | undefined;
      /** Why it is not the configured one. */
      readonly note: string | undefined;
    }
  | { readonly ok: false; readonly reason: string };

export function chooseEngine(settings: SearchSettings, env: Environment): EngineChoice {
  const wanted = wantedEngine(settings, env);
  if (!isEngineName(wanted)) {
    return isEngineOfTheOriginal(wanted)
      ? instead(`nanobot cannot ask "${wanted}"`)
      : { ok: false, reason: unknownEngine(wanted) };
  }
  const engine = engines[wanted];
  const { label, needs } = engine;
  if (needs === undefined) return { ok: true, engine, credential: undefined, note: undefined };
  const credential = findCredential(needs, settings, env);
  if (credential === undefined) {
    const setting = needs.what === "key" ? "apiKey" : "baseUrl";
    return instead(`${label} has no ${needs.what} (set tools.web.search.${setting} or ${needs.variable})`);
  }
  const problem = needs.what === "key" ? problemOfKey(credential) : problemOfAddress(credential);
  return problem === undefined
    ? { ok: true, engine, credential, note: undefined }
    : { ok: false, reason: problem };
}

/** The engine by name, and with no name the one of the original's first version, if there is a key for it. */
function wantedEngine({ provider, isKeyMeant }: SearchSettings, env: Environment): string {
  const name = readEngineName(provider);
  if (name !== undefined) return name;
  return isKeyMeant || (env["BRAVE_API_KEY"] ?? "").trim() !== "" ? "brave" : "duckduckgo";
}

function instead(why: string): EngineChoice {
  const engine = engines.duckduckgo;
  return { ok: true, engine, credential: undefined, note: `${why}, so ${engine.label} was asked instead` };
}

function findCredential(
  { what, variable }: NonNullable<SearchEngine["needs"]>,
  { apiKey, baseUrl }: SearchSettings,
  env: Environment,
): Credential | undefined {
  const places =
    what === "key"
      ? [{ value: apiKey, source: "tools.web.search.apiKey" }]
      : [{ value: baseUrl, source: "tools.web.search.baseUrl" }];
  return [...places, { value: env[variable] ?? "", source: variable }]
    .map(({ value, source }) => ({ value: value.trim(), source }))
    .find(({ value }) => value !== "");
}

/** A header that cannot be sent would be quoted in the error about it. */
function problemOfKey({ value, source }: Credential): string | undefined {
  if (/^[\x21-\x7e]+$/.test(value)) return undefined;
  return `the key in ${source} has spaces or characters in it that no key has; copy it again`;
}

function problemOfAddress({ value, source }: Credential): string | undefined {
  const url = URL.parse(value);
  if (url === null || !isHttpAddress(value)) {
    return `what ${source} says is not an address; write it as https://search.example.com`;
  }
  const hasPassword = url.username !== "" || url.password !== "";
  return hasPassword
    ? `the address in ${source} has a user name or a password, and none is ever sent`
    : undefined;
}

function unknownEngine(name: string): string {
  return `tools.web.search.provider is ${JSON.stringify(clip(name, 64))}, and ${noSuchEngine(name)}`;
}

/** For advice: what can be asked in the place of `engine`. */
export function otherEngines(engine: SearchEngine): readonly EngineName[] {
  return ENGINE_NAMES.filter((name) => engines[name] !== engine);
}

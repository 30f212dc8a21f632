/** Which provider answers for a model: a pure decision from the configuration and the environment. */

import { isHttpAddress } from "../lib/http-address.ts";
import { nearest } from "../lib/nearest.ts";
import { isSameName } from "../lib/same-name.ts";
import { type Vendor, vendors } from "./vendors.ts";
import type { Quirks } from "./wire-request.ts";

/** One entry of `providers`, as the configuration holds it. Blank counts as absent. */
interface ProviderSettings {
  readonly apiKey?: string | null | undefined;
  readonly apiBase?: string | null | undefined;
  readonly extraHeaders?: Readonly<Record<string, string>> | null | undefined;
  readonly extraBody?: Readonly<Record<string, unknown>> | null | undefined;
  readonly extraQuery?: Readonly<Record<string, unknown>> | null | undefined;
}

export interface ResolveInput {
  readonly model: string | undefined;
  /** A provider's name, or `auto`. */
  readonly provider: string | undefined;
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a protocol needs to reach a provider. Strings from the configuration may hold `${VAR}` still. */
interface Endpoint {
  readonly provider: string;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly extraBody: Readonly<Record<string, unknown>>;
  readonly extraQuery: Readonly<Record<string, string>>;
  readonly quirks: Partial<Quirks>;
}

export type Resolution =
  /** `name` is the model as this provider knows it; `why` is for people. */
  | { readonly kind: "resolved"; readonly endpoint: Endpoint; readonly name: string; readonly why: string }
  | { readonly kind: "failed"; readonly reason: string; readonly hint: string }
  | { readonly kind: "unconfigured"; readonly why: string };

/** A vendor or an endpoint of the user's own, with what is configured for it. */
interface Candidate {
  readonly name: string;
  readonly vendor: Vendor | undefined;
  readonly settings: ProviderSettings;
  readonly apiBase: string | undefined;
  readonly apiKey: string | undefined;
  /** Where the key comes from. */
  readonly keySource: "config" | "environment" | undefined;
}

const ONBOARD = "Run nanobot onboard to set up a provider";

/**
 * In order: the provider that is named; the model's prefix as the name of a vendor or of an own endpoint;
 * a keyword in the model's name; a local server whose address is configured; whoever has a key, unless
 * the model is plainly somebody else's; an own endpoint. With nothing named and nothing configured,
 * `unconfigured`.
 */
export function resolveProvider({ model, provider, providers, env }: ResolveInput): Resolution {
  const wanted = filled(model);
  const candidates = candidatesOf(providers, env);
  const forced = filled(provider);
  if (forced !== undefined && !isSameName(forced, "auto")) return resolveForced(forced, wanted, candidates);
  return wanted === undefined ? resolveDefault(candidates) : resolveNamed(wanted, candidates);
}

function filled(text: string | null | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed ? trimmed : undefined;
}

function candidatesOf(providers: ResolveInput["providers"], env: ResolveInput["env"]): readonly Candidate[] {
  const entries = Object.entries(providers);
  const known = vendors.map((vendor): Candidate => {
    const settings = entries.find(([name]) => isSameName(name, vendor.name))?.[1] ?? {};
    const configured = filled(settings.apiKey);
    const fromEnv = vendor.keyVariable === undefined ? undefined : filled(env[vendor.keyVariable]);
    const keySource = configured ? "config" : fromEnv ? "environment" : undefined;
    const apiBase = filled(settings.apiBase);
    return { name: vendor.name, vendor, settings, apiBase, apiKey: configured ?? fromEnv, keySource };
  });
  const own = entries
    .filter(([name]) => !vendors.some((vendor) => isSameName(vendor.name, name)))
    .map(([name, settings]): Candidate => {
      const apiKey = filled(settings.apiKey);
      const keySource = apiKey ? "config" : undefined;
      return { name, vendor: undefined, settings, apiBase: filled(settings.apiBase), apiKey, keySource };
    });
  return [...known, ...own];
}

/** Whether it could be called: a key, a local server, or an address of the user's own. */
function isUsable({ vendor, apiKey, apiBase }: Candidate): boolean {
  if (!vendor) return apiBase !== undefined;
  return apiKey !== undefined || vendor.local === true || apiBase !== undefined;
}

function byName(name: string, candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.find((candidate) => isSameName(candidate.name, name));
}

function resolveForced(
  name: string,
  model: string | undefined,
  candidates: readonly Candidate[],
): Resolution {
  const candidate = byName(name, candidates);
  if (!candidate) {
    const near = nearest(
      name,
      candidates.map((known) => known.name),
    );
    const known = near
      ? `Did you mean "${near}"?`
      : `Known are ${candidates.map((one) => one.name).join(", ")}`;
    return {
      kind: "failed",
      reason: `There is no provider "${name}"`,
      hint: `${known}${near ? "" : ", or give providers.<name>.apiBase for an endpoint of your own"}`,
    };
  }
  return isUsable(candidate)
    ? use(candidate, model, "it is the configured provider")
    : unusable(candidate, model);
}

function resolveNamed(model: string, candidates: readonly Candidate[]): Resolution {
  const slash = model.indexOf("/");
  const prefix = slash > 0 ? model.slice(0, slash) : undefined;
  const prefixed = prefix === undefined ? undefined : byName(prefix, candidates);
  if (prefixed && isUsable(prefixed)) return use(prefixed, model, `the model's name begins with ${prefix}/`);

  const lower = model.toLowerCase();
  const meant = candidates.filter(({ vendor }) =>
    vendor?.keywords.some((keyword) => lower.includes(keyword)),
  );
  const byKeyword = prefixed ? undefined : meant.find((candidate) => canServe(candidate, prefix));
  if (byKeyword) return use(byKeyword, model, "the model's name points to it");

  const owner = prefixed ?? meant.find(({ vendor }) => !vendor?.local);
  const server = owner
    ? candidates.find(({ vendor, apiKey }) => vendor?.gateway && apiKey !== undefined)
    : (localServer(candidates) ?? withKey(candidates));
  if (server) return use(server, model, reasonFor(server));
  const own = candidates.find(({ vendor, apiBase }) => !vendor && apiBase !== undefined);
  if (own) return use(own, model, reasonFor(own));
  if (owner) return unusable(owner, model);
  return { kind: "failed", reason: `No provider is set up for the model "${model}"`, hint: ONBOARD };
}

/** A keyword counts for a vendor with a key, and for a local server whose address is configured. */
function canServe({ vendor, apiKey, apiBase }: Candidate, prefix: string | undefined): boolean {
  return vendor?.local
    ? apiBase !== undefined && prefix === undefined
    : apiKey !== undefined || apiBase !== undefined;
}

function localServer(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.find(({ vendor, apiBase }) => vendor?.local && apiBase !== undefined);
}

/** A key that somebody wrote into the configuration counts more than one that lies in the environment. */
function withKey(candidates: readonly Candidate[]): Candidate | undefined {
  const known = candidates.filter(({ vendor }) => vendor !== undefined);
  return (
    known.find(({ keySource }) => keySource === "config") ??
    known.find(({ keySource }) => keySource === "environment")
  );
}

function reasonFor({ vendor, keySource }: Candidate): string {
  if (keySource === undefined || !vendor || vendor.local) return "its address is configured";
  return keySource === "environment" ? `${vendor.keyVariable} is set` : "its key is configured";
}

function resolveDefault(candidates: readonly Candidate[]): Resolution {
  const candidate =
    localServer(candidates) ?? withKey(candidates) ?? candidates.find(({ apiBase }) => apiBase !== undefined);
  if (candidate) return use(candidate, undefined, reasonFor(candidate));
  return { kind: "unconfigured", why: "no provider is configured" };
}

function unusable({ name, vendor }: Candidate, model: string | undefined): Resolution {
  const target = model === undefined ? "" : ` for the model "${model}"`;
  if (!vendor) {
    return {
      kind: "failed",
      reason: `The provider "${name}"${target} has no address`,
      hint: `Set providers.${name}.apiBase`,
    };
  }
  return {
    kind: "failed",
    reason: `There is no API key of ${vendor.label}${target}`,
    hint: `Set providers.${name}.apiKey or the environment variable ${vendor.keyVariable}, or name another provider in agents.defaults.provider`,
  };
}

function use(candidate: Candidate, model: string | undefined, because: string): Resolution {
  const keyOwner = ownerOfKey(candidate);
  const vendor = keyOwner ?? candidate.vendor;
  const name = vendor?.name ?? candidate.name;
  const why = keyOwner ? `the key begins ${keyOwner.keyPrefix}` : because;
  if (model === undefined && !vendor) {
    return {
      kind: "failed",
      reason: `No model is named for the provider "${candidate.name}"`,
      hint: "Set agents.defaults.model",
    };
  }
  const baseUrl = candidate.apiBase ?? vendor?.baseUrl;
  // Only own endpoints have no row, and those are used only with an address.
  if (baseUrl === undefined) return unusable(candidate, model);
  // The value is not repeated: an address can hold a password.
  if (!isHttpAddress(baseUrl)) {
    return {
      kind: "failed",
      reason: `The provider "${candidate.name}" cannot be reached: providers.${candidate.name}.apiBase is not an address that begins with https:// or http://`,
      hint: `Correct providers.${candidate.name}.apiBase`,
    };
  }
  const { extraHeaders, extraBody, extraQuery } = candidate.settings;
  return {
    kind: "resolved",
    endpoint: {
      provider: name,
      baseUrl,
      apiKey: candidate.apiKey,
      headers: extraHeaders ?? {},
      extraBody: extraBody ?? {},
      extraQuery: Object.fromEntries(
        Object.entries(extraQuery ?? {}).map(([key, value]) => [key, String(value)]),
      ),
      quirks: vendor?.quirks ?? {},
    },
    name: model === undefined ? (vendor?.defaultModel ?? "") : withoutPrefix(model, name, vendor),
    why: `${name}, because ${why}${model === undefined ? ", with its default model, because none is named" : ""}`,
  };
}

/** The vendor whose keys begin like this one, if the key was put under another vendor's name. */
function ownerOfKey({ vendor, apiKey, apiBase }: Candidate): Vendor | undefined {
  if (!vendor || !apiKey || apiBase !== undefined) return undefined;
  const owner = vendors.find(({ keyPrefix }) => keyPrefix !== undefined && apiKey.startsWith(keyPrefix));
  return owner === vendor ? undefined : owner;
}

/**
 * The provider's own name in front of the model's is ours and not part of it. A gateway's models have a
 * vendor in front, so there the rest must have one too: `openrouter/auto` is a whole name.
 */
function withoutPrefix(model: string, provider: string, vendor: Vendor | undefined): string {
  const slash = model.indexOf("/");
  if (slash < 1 || !isSameName(model.slice(0, slash), provider)) return model;
  const rest = model.slice(slash + 1);
  return rest === "" || (vendor?.gateway && !rest.includes("/")) ? model : rest;
}

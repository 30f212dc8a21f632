/** Which provider answers for a model: a pure decision from the configuration and the environment. */

import type { LocalServer } from "../../core/app.ts";
import type { Environment } from "../../core/platform.ts";
import { isHttpAddress } from "../../lib/http-address.ts";
import { nearest } from "../../lib/nearest.ts";
import { isSameName } from "../../lib/same-name.ts";
import {
  type Candidate,
  candidatesOf,
  filled,
  isUsable,
  labelOf,
  type ProviderSettings,
} from "./candidates.ts";
import type { Vendor } from "./vendor.ts";
import { type Endpoint, endpointOf } from "./vendor-endpoint.ts";
import { vendors } from "./vendors.ts";

export interface ResolveInput {
  readonly model: string | undefined;
  /** A provider's name, or `auto`. */
  readonly provider: string | undefined;
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  readonly env: Environment;
}

interface Resolved {
  readonly kind: "resolved";
  readonly endpoint: Endpoint;
  /** The model as this provider knows it. */
  readonly name: string;
  /** For people. */
  readonly why: string;
}

export type Resolution =
  | Resolved
  | { readonly kind: "failed"; readonly reason: string; readonly hint: string }
  | { readonly kind: "unconfigured"; readonly why: string };

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

/**
 * A model of a server that was found on this machine. Nothing of the configuration goes there: its keys and
 * headers may be meant for another machine. The name is the server's own, to the letter.
 */
export function resolveAtServer({ name, baseUrl, models }: LocalServer, model = models[0] ?? ""): Resolved {
  const settings = { name, settings: {}, apiKey: undefined, apiBase: baseUrl };
  const vendor = vendors.find((row) => row.name === name);
  return {
    kind: "resolved",
    endpoint: endpointOf(settings, vendor, baseUrl),
    name: model,
    why: `${name}, because it was found on this machine`,
  };
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
    const known =
      "nanobot providers lists those that are known. For one of your own give providers.<name>.apiBase";
    return {
      kind: "failed",
      reason: `There is no provider "${name}"`,
      hint: near ? `Did you mean "${near}"?` : known,
    };
  }
  return isUsable(candidate)
    ? use(candidate, model, "it is the configured provider")
    : unusable(candidate, model);
}

function resolveNamed(model: string, candidates: readonly Candidate[]): Resolution {
  const prefix = prefixOf(model);
  const prefixed = prefix === undefined ? undefined : byName(prefix, candidates);
  if (prefixed && isUsable(prefixed)) return use(prefixed, model, `the model's name begins with ${prefix}/`);
  if (prefixed && !prefixed.vendor) return unusable(prefixed, model);

  const meant = meantBy(model, candidates);
  const byKeyword = prefixed ? undefined : meant.find((candidate) => canServe(candidate, prefix));
  if (byKeyword) return use(byKeyword, model, "the model's name points to it");

  const owner = prefixed ?? meant.find(({ vendor }) => !vendor?.local);
  const isClosed = owner?.vendor !== undefined && isClosedModel(model, owner.vendor);
  const local = isClosed ? undefined : localServer(candidates);
  const standIn = owner ? serverOfOthers(candidates, isClosed) : withKey(candidates);
  // A vendor in front of the name is how gateways call a model, and seldom how a local server does.
  const server = prefixed ? (standIn ?? local) : (local ?? standIn);
  if (server) return use(server, model, reasonFor(server));
  const own = candidates.find(({ vendor, apiBase }) => !vendor && apiBase !== undefined);
  if (own) return use(own, model, reasonFor(own));
  if (owner) return unusable(owner, model);
  return { kind: "failed", reason: `No provider is set up for the model "${model}"`, hint: ONBOARD };
}

function prefixOf(model: string): string | undefined {
  const slash = model.indexOf("/");
  return slash > 0 ? model.slice(0, slash) : undefined;
}

/** Vendors with a keyword in the model's name: the longest one says most, then the order of the rows. */
function meantBy(model: string, candidates: readonly Candidate[]): readonly Candidate[] {
  const lower = model.toLowerCase();
  const lengths = candidates.map((candidate) => {
    const found = candidate.vendor?.keywords.filter((keyword) => lower.includes(keyword)) ?? [];
    return { candidate, length: Math.max(0, ...found.map((keyword) => keyword.length)) };
  });
  return lengths
    .filter(({ length }) => length > 0)
    .sort((one, other) => other.length - one.length)
    .map(({ candidate }) => candidate);
}

/** A keyword counts for a vendor with a key, and for a local server whose address is configured. */
function canServe({ vendor, hasOwnKey, apiBase }: Candidate, prefix: string | undefined): boolean {
  return vendor?.local ? apiBase !== undefined && prefix === undefined : hasOwnKey || apiBase !== undefined;
}

function isClosedModel(model: string, { closed, openKeywords = [] }: Vendor): boolean {
  return closed === true && !openKeywords.some((keyword) => model.toLowerCase().includes(keyword));
}

/** Who answers for a vendor whose own key is missing. */
function serverOfOthers(candidates: readonly Candidate[], isClosed: boolean): Candidate | undefined {
  const able = candidates.filter(({ hasOwnKey }) => hasOwnKey);
  return (
    able.find(({ vendor }) => vendor?.gateway) ??
    (isClosed ? undefined : able.find(({ vendor }) => vendor?.host))
  );
}

/** One whose address has the port of its row is certainly what its name says. */
function localServer(candidates: readonly Candidate[]): Candidate | undefined {
  const configured = candidates.filter(({ vendor, apiBase }) => vendor?.local && apiBase !== undefined);
  return configured.find(isAtUsualPort) ?? configured[0];
}

function isAtUsualPort({ vendor, apiBase = "" }: Candidate): boolean {
  return vendor?.baseUrl !== undefined && URL.parse(apiBase)?.port === new URL(vendor.baseUrl).port;
}

/** A key that somebody wrote into the configuration counts more than one that lies in the environment. */
function withKey(candidates: readonly Candidate[]): Candidate | undefined {
  const known = candidates.filter(({ vendor, hasOwnKey }) => vendor !== undefined && hasOwnKey);
  return (
    known.find(({ keySource }) => keySource === "config") ??
    // A local server's variable says how to ask it, and not that it runs.
    known.find(({ vendor }) => !vendor?.local)
  );
}

function reasonFor({ vendor, keySource, hasOwnKey }: Candidate): string {
  if (!hasOwnKey || !vendor || vendor.local) return "its address is configured";
  return keySource === "environment" ? `${vendor.keyVariable} is set` : "its key is configured";
}

function resolveDefault(candidates: readonly Candidate[]): Resolution {
  const candidate =
    localServer(candidates) ?? withKey(candidates) ?? candidates.find(({ apiBase }) => apiBase !== undefined);
  if (candidate) return use(candidate, undefined, reasonFor(candidate));
  return { kind: "unconfigured", why: "no provider is configured" };
}

function unusable(candidate: Candidate, model: string | undefined): Resolution {
  const { name, vendor, apiBase } = candidate;
  const target = model === undefined ? "" : ` for the model "${model}"`;
  if (apiBase === undefined && vendor?.baseUrl === undefined) {
    return {
      kind: "failed",
      reason: `The provider "${name}"${target} has no address`,
      hint: `Set providers.${name}.apiBase`,
    };
  }
  const orVariable =
    vendor?.keyVariable === undefined ? "" : ` or the environment variable ${vendor.keyVariable}`;
  return {
    kind: "failed",
    reason: `There is no API key of ${labelOf(candidate)}${target}`,
    hint: `Set providers.${name}.apiKey${orVariable}, or name another provider in agents.defaults.provider`,
  };
}

function use(candidate: Candidate, model: string | undefined, because: string): Resolution {
  const keyOwner = ownerOfKey(candidate);
  const vendor = keyOwner ?? candidate.vendor;
  const name = vendor?.name ?? candidate.name;
  const chosen = model ?? vendor?.defaultModel;
  if (chosen === undefined) {
    return {
      kind: "failed",
      reason: `No model is named for the provider "${candidate.name}"`,
      hint: "Set agents.defaults.model",
    };
  }
  const baseUrl = candidate.apiBase ?? vendor?.baseUrl;
  if (baseUrl === undefined) return unusable(candidate, model);
  // The value is not repeated: an address can hold a password.
  if (!isHttpAddress(baseUrl)) {
    return {
      kind: "failed",
      reason: `The provider "${candidate.name}" cannot be reached: providers.${candidate.name}.apiBase is not an address that begins with https:// or http://`,
      hint: `Correct providers.${candidate.name}.apiBase`,
    };
  }
  const shown = keyOwner?.name ?? candidate.displayName ?? name;
  const why = keyOwner ? `the key begins ${keyOwner.keyPrefix}` : because;
  return {
    kind: "resolved",
    endpoint: endpointOf(candidate, vendor, baseUrl),
    name: model === undefined ? chosen : nameAt(model, name, vendor),
    why: `${shown}, because ${why}${model === undefined ? ", with its default model, because none is named" : ""}`,
  };
}

/** The vendor whose keys begin like this one, if the key was put under another vendor's name. */
function ownerOfKey({ vendor, plainKey, apiBase }: Candidate): Vendor | undefined {
  if (!vendor || !plainKey || apiBase !== undefined) return undefined;
  const owner = vendors.find(({ keyPrefix }) => keyPrefix !== undefined && plainKey.startsWith(keyPrefix));
  return owner === vendor ? undefined : owner;
}

/**
 * The model as the provider knows it: the provider's own name in front is ours and not part of it. Where
 * names have a vendor in front, the rest must have one too: `openrouter/auto` is a whole name.
 */
function nameAt(model: string, provider: string, vendor: Vendor | undefined): string {
  if (vendor?.stripsPrefix) return model.slice(model.lastIndexOf("/") + 1) || model;
  const prefix = prefixOf(model);
  if (prefix === undefined) return model;
  const rest = model.slice(prefix.length + 1);
  const isOurs = isSameName(prefix, provider) || isNickname(prefix, vendor);
  return !isOurs || rest === "" || (vendor?.vendorInNames && !rest.includes("/")) ? model : rest;
}

/** Whether people call the vendor so: `azure/my-deployment`. Servers of open models have such names of their own. */
function isNickname(prefix: string, vendor: Vendor | undefined): boolean {
  if (!vendor || vendor.local || vendor.vendorInNames) return false;
  return vendor.keywords.some((keyword) => isSameName(keyword, prefix));
}

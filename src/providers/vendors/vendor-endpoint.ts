/** What a protocol needs to reach a provider, from its row and its settings. */

import type { ProtocolName } from "../../core/app.ts";
import type { ServerQuirks, ThinkingStyle } from "../wire/server-quirks.ts";
import type { Candidate, ProviderSettings } from "./candidates.ts";
import type { Vendor } from "./vendor.ts";

/** Strings from the configuration may hold `${VAR}` still. */
export interface Endpoint {
  readonly provider: string;
  readonly protocol: ProtocolName;
  /** Azure's addresses and headers. */
  readonly azure: boolean;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly extraBody: Readonly<Record<string, unknown>>;
  readonly extraQuery: Readonly<Record<string, string>>;
  readonly quirks: Partial<ServerQuirks>;
}

/** `vendor` may be another than the candidate's own, when the key turned out to be that one's. */
export function endpointOf(
  { name, settings, apiKey, apiBase }: Pick<Candidate, "name" | "settings" | "apiKey" | "apiBase">,
  vendor: Vendor | undefined,
  baseUrl: string,
): Endpoint {
  const { extraHeaders, extraBody, extraQuery } = settings;
  const { base, query } = takeApart(baseUrl);
  return {
    provider: vendor?.name ?? name,
    protocol: protocolOf(vendor, settings, apiBase),
    azure: vendor?.azure === true,
    baseUrl: base,
    apiKey,
    headers: extraHeaders ?? {},
    extraBody: extraBody ?? {},
    extraQuery: {
      ...query,
      ...Object.fromEntries(Object.entries(extraQuery ?? {}).map(([key, value]) => [key, String(value)])),
    },
    quirks: { ...vendor?.quirks, ...thinkingOf(settings) },
  };
}

/**
 * People paste the whole address of a call: the protocol adds its own path, and what stands behind the
 * question mark goes along with each request. Variables that are not filled in yet stay as they are.
 */
function takeApart(address: string): { base: string; query: Readonly<Record<string, string>> } {
  const [rest = "", search = ""] = (address.split("#")[0] ?? "").split("?");
  const base = rest.replace(/\/+$/, "").replace(/\/(chat\/completions|responses|messages|models)$/, "");
  return { base, query: Object.fromEntries(new URLSearchParams(search)) };
}

export function protocolOf(
  vendor: Vendor | undefined,
  { apiType }: ProviderSettings,
  apiBase: string | undefined,
): ProtocolName {
  const usual = vendor?.protocol ?? "chatCompletions";
  // Only OpenAI's two can stand for each other.
  if (usual !== "chatCompletions" && usual !== "responses") return usual;
  if (apiType === "responses") return "responses";
  if (apiType === "chat_completions") return "chatCompletions";
  // A proxy in front of OpenAI speaks chat completions, and perhaps nothing else.
  const isProxied = vendor?.baseUrl !== undefined && apiBase !== undefined && !isAt(apiBase, vendor.baseUrl);
  return isProxied ? "chatCompletions" : usual;
}

function isAt(address: string, usual: string): boolean {
  return URL.parse(address)?.origin === new URL(usual).origin;
}

const thinkingStyles: Readonly<Record<NonNullable<ProviderSettings["thinkingStyle"]>, ThinkingStyle>> = {
  thinking_type: "thinkingType",
  enable_thinking: "enableThinking",
  reasoning_split: "split",
};

function thinkingOf({ thinkingStyle }: ProviderSettings): Partial<ServerQuirks> {
  return thinkingStyle === undefined ? {} : { thinking: thinkingStyles[thinkingStyle] };
}

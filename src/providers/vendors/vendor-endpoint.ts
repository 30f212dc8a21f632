/** What a protocol needs to reach a provider, from its row and its settings. */

import type { ProtocolName } from "../../core/app.ts";
import type { Quirks, ThinkingStyle } from "../chat-completions/quirks.ts";
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
  readonly quirks: Partial<Quirks>;
}

/** `vendor` may be another than the candidate's own, when the key turned out to be that one's. */
export function endpointOf(
  { name, settings, apiKey, apiBase }: Pick<Candidate, "name" | "settings" | "apiKey" | "apiBase">,
  vendor: Vendor | undefined,
  baseUrl: string,
): Endpoint {
  const { extraHeaders, extraBody, extraQuery } = settings;
  return {
    provider: vendor?.name ?? name,
    protocol: protocolOf(vendor, settings, apiBase),
    azure: vendor?.azure === true,
    baseUrl,
    apiKey,
    headers: extraHeaders ?? {},
    extraBody: extraBody ?? {},
    extraQuery: Object.fromEntries(
      Object.entries(extraQuery ?? {}).map(([key, value]) => [key, String(value)]),
    ),
    quirks: { ...vendor?.quirks, ...thinkingOf(settings) },
  };
}

export function protocolOf(
  vendor: Vendor | undefined,
  { apiType }: ProviderSettings,
  apiBase: string | undefined,
): ProtocolName {
  if (vendor?.protocol === "anthropic") return "anthropic";
  if (apiType === "responses") return "responses";
  if (apiType === "chat_completions") return "chatCompletions";
  // A proxy in front of OpenAI speaks chat completions, and perhaps nothing else.
  const isProxied = vendor?.baseUrl !== undefined && apiBase !== undefined && !isAt(apiBase, vendor.baseUrl);
  return isProxied ? "chatCompletions" : (vendor?.protocol ?? "chatCompletions");
}

function isAt(address: string, usual: string): boolean {
  return URL.parse(address)?.origin === new URL(usual).origin;
}

const thinkingStyles: Readonly<Record<NonNullable<ProviderSettings["thinkingStyle"]>, ThinkingStyle>> = {
  thinking_type: "thinkingType",
  enable_thinking: "enableThinking",
  reasoning_split: "split",
};

function thinkingOf({ thinkingStyle }: ProviderSettings): Partial<Quirks> {
  return thinkingStyle === undefined ? {} : { thinking: thinkingStyles[thinkingStyle] };
}

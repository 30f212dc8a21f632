/** What one call over the wire used, as it is recorded; guessed where the provider did not count. */

import type { Usage } from "../../core/model.ts";
import { estimateTokens } from "../../lib/estimate.ts";
import { messagesTokens, toolTokens } from "../../lib/request-tokens.ts";
import type { ModelCall } from "./resilient.ts";

export interface Used {
  readonly usage: Usage;
  /** Our own guess. */
  readonly estimated: boolean;
}

/** A call that failed before anything arrived used nothing that anybody could know of. */
export function usedBy({ request, reply }: ModelCall): Used {
  if (reply.ok && reply.usage !== undefined) return { usage: reply.usage, estimated: false };
  const text = reply.ok
    ? reply.content + (reply.reasoningContent ?? "") + reply.toolCalls.map((call) => call.arguments).join("")
    : reply.partial;
  if (!reply.ok && text === "")
    return { usage: { input: 0, output: 0, cached: 0, reasoning: 0 }, estimated: false };
  const usage = { input: promptTokens(request), output: estimateTokens(text), cached: 0, reasoning: 0 };
  return { usage, estimated: true };
}

/** By our estimate. */
export function promptTokens({ messages, tools }: ModelCall["request"]): number {
  return messagesTokens(messages) + toolTokens(tools);
}

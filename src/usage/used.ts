/** What one call over the wire used, guessed where the provider did not count. */

import type { Usage } from "../core/model.ts";
import type { ModelCall } from "../core/usage.ts";
import { estimateTokens } from "../lib/estimate.ts";
import { promptTokens } from "../lib/request-tokens.ts";

export interface Used {
  readonly usage: Usage;
  /** Our own guess, at least in part. */
  readonly estimated: boolean;
}

/** No tokenizer needs fewer tokens than this part of our estimate. */
const FEWEST_OF_ESTIMATE = 0.5;

const NOTHING: Used = { usage: { input: 0, output: 0, cached: 0, reasoning: 0 }, estimated: false };

/** A call that failed before anything arrived used nothing that anybody could know of. */
export function usedBy(call: ModelCall): Used {
  const { reply } = call;
  if (reply.usage !== undefined) return reply.ok ? counted(reply.usage) : completed(reply.usage, call);
  return hasStarted(call) ? { usage: guess(call), estimated: true } : NOTHING;
}

function counted(usage: Usage): Used {
  return { usage, estimated: false };
}

/** Of a failure: some providers count at the beginning, before there was an output. */
function completed(usage: Usage, call: ModelCall): Used {
  const { output, reasoning } = guess(call);
  if (usage.output >= output * FEWEST_OF_ESTIMATE) return counted(usage);
  return { usage: { ...usage, output, reasoning: Math.max(usage.reasoning, reasoning) }, estimated: true };
}

function hasStarted({ reply, thought }: ModelCall): boolean {
  return reply.ok || reply.started === true || reply.partial !== "" || thought !== "";
}

function guess({ request, reply, thought: heard }: ModelCall): Usage {
  // An answer says itself which part of it was thought.
  const thought = reply.ok ? (reply.reasoningContent ?? "") : heard;
  const said = reply.ok
    ? reply.content + reply.toolCalls.map((call) => call.arguments).join("")
    : reply.partial;
  const reasoning = estimateTokens(thought);
  return {
    input: promptTokens(request),
    output: estimateTokens(said) + reasoning,
    cached: 0,
    reasoning,
  };
}

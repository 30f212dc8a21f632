/** The tokens of a chat-completions reply, in whatever place and by whatever name a vendor counts them. */

import type { Usage } from "../../core/model.ts";
import { isObject } from "../../lib/is-object.ts";
import { countOf, type Fields, fieldsOf } from "../wire/fields.ts";

function read(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const input = countOf(usage["prompt_tokens"], usage["input_tokens"]);
  const output = countOf(usage["completion_tokens"], usage["output_tokens"]);
  if (input === undefined && output === undefined) return undefined;
  const prompt = { ...fieldsOf(usage["input_tokens_details"]), ...fieldsOf(usage["prompt_tokens_details"]) };
  const completion = fieldsOf(usage["completion_tokens_details"] ?? usage["output_tokens_details"]);
  const cost = countOf(usage["cost"]);
  return {
    input: input ?? 0,
    output: output ?? 0,
    cached: countOf(prompt["cached_tokens"], usage["cached_tokens"], usage["prompt_cache_hit_tokens"]) ?? 0,
    reasoning: countOf(completion["reasoning_tokens"]) ?? 0,
    ...(cost === undefined ? {} : { cost }),
  };
}

/** Most chunks tell of none. Moonshot puts it into the choice, and Groq into a field of its own. */
export function usageOf(chunk: Fields, choice: unknown): Usage | undefined {
  return read(chunk["usage"]) ?? read(fieldsOf(choice)["usage"]) ?? read(fieldsOf(chunk["x_groq"])["usage"]);
}

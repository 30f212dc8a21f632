/** The tokens of a chat-completions reply, in whatever place and by whatever name a vendor counts them. */

import type { Usage } from "../../core/model.ts";
import { isObject } from "../../lib/is-object.ts";

type Fields = { readonly [key: string]: unknown };

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function count(...candidates: unknown[]): number | undefined {
  const found = candidates.find((value) => typeof value === "number" && Number.isFinite(value) && value >= 0);
  return typeof found === "number" ? found : undefined;
}

function read(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const input = count(usage["prompt_tokens"], usage["input_tokens"]);
  const output = count(usage["completion_tokens"], usage["output_tokens"]);
  if (input === undefined && output === undefined) return undefined;
  const prompt = { ...fieldsOf(usage["input_tokens_details"]), ...fieldsOf(usage["prompt_tokens_details"]) };
  const completion = fieldsOf(usage["completion_tokens_details"] ?? usage["output_tokens_details"]);
  const cost = count(usage["cost"]);
  return {
    input: input ?? 0,
    output: output ?? 0,
    cached: count(prompt["cached_tokens"], usage["cached_tokens"], usage["prompt_cache_hit_tokens"]) ?? 0,
    reasoning: count(completion["reasoning_tokens"]) ?? 0,
    ...(cost === undefined ? {} : { cost }),
  };
}

/** Most chunks tell of none. Moonshot puts it into the choice, and Groq into a field of its own. */
export function usageOf(chunk: Fields, choice: unknown): Usage | undefined {
  return read(chunk["usage"]) ?? read(fieldsOf(choice)["usage"]) ?? read(fieldsOf(chunk["x_groq"])["usage"]);
}

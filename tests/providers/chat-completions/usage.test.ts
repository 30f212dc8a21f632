import { expect, test } from "bun:test";
import { usageOf } from "../../../src/providers/chat-completions/usage.ts";

const used = { input: 7, output: 2, cached: 0, reasoning: 0 };
const tokens = { prompt_tokens: 7, completion_tokens: 2 };

test.each([
  ["from a chunk without choices", { usage: tokens }, used],

  ["from x_groq", { x_groq: { usage: tokens } }, used],
  ["with a cost", { usage: { ...tokens, cost: 0.25 } }, { ...used, cost: 0.25 }],
  ["with a cost of nothing", { usage: { ...tokens, cost: 0 } }, { ...used, cost: 0 }],
  ["without a cost that is none", { usage: { ...tokens, cost: -1 } }, used],
  ["by other names", { usage: { input_tokens: 7, output_tokens: 2 } }, used],
  [
    "cached, in the details",
    { usage: { ...tokens, prompt_tokens_details: { cached_tokens: 5 } } },
    { ...used, cached: 5 },
  ],
  [
    "cached, in the input's details",
    { usage: { ...tokens, input_tokens_details: { cached_tokens: 5 } } },
    { ...used, cached: 5 },
  ],
  ["cached", { usage: { ...tokens, cached_tokens: 5 } }, { ...used, cached: 5 }],
  ["cached, as hits", { usage: { ...tokens, prompt_cache_hit_tokens: 5 } }, { ...used, cached: 5 }],
  [
    "reasoning",
    { usage: { ...tokens, completion_tokens_details: { reasoning_tokens: 1 } } },
    { ...used, reasoning: 1 },
  ],
])("usageOf() counts tokens %s", (_, chunk, usage) => {
  expect(usageOf(chunk, undefined)).toEqual(usage);
});

test("usageOf() counts tokens from a choice", () => {
  expect(usageOf({ usage: null }, { delta: {}, usage: tokens })).toEqual(used);
});

test.each([
  [{}, undefined],
  [{ usage: null, x_groq: null }, null],
  [{ usage: {} }, { usage: [] }],
  [{ usage: { total_tokens: 9, prompt_tokens: "7", completion_tokens: Number.NaN } }, {}],
])("usageOf() finds none in %j and %j", (chunk, choice) => {
  expect(usageOf(chunk, choice)).toBeUndefined();
});

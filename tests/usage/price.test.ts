import { expect, test } from "bun:test";
import type { ModelPrice } from "../../src/core/usage.ts";
import { priceOf } from "../../src/usage/price.ts";

const usage = { input: 1_000_000, output: 100_000, cached: 400_000, reasoning: 0 };

function price(prices: Record<string, ModelPrice>, model = "acme/large", provider = "openrouter") {
  return priceOf({ model, provider, usage, prices });
}

test("priceOf() takes the provider's own figure first", () => {
  const prices = { "acme/large": { input: 1, output: 1 } };
  expect(priceOf({ model: "acme/large", provider: "x", usage: { ...usage, cost: 0 }, prices })).toBe(0);
});

test("priceOf() does not take a figure that is none", () => {
  expect(priceOf({ model: "m", provider: "x", usage: { ...usage, cost: -1 }, prices: {} })).toBeUndefined();
});

test("priceOf() counts cached input, the rest of the input and the output at their own prices", () => {
  expect(price({ large: { input: 10, output: 20, cached: 1 } })).toBeCloseTo(6 + 0.4 + 2, 10);
});

test("priceOf() counts cached input like other input when it has no price", () => {
  expect(price({ large: { input: 10, output: 20 } })).toBeCloseTo(10 + 2, 10);
});

test("priceOf() never counts more cached input than there is input", () => {
  const more = { ...usage, input: 1_000_000, cached: 5_000_000, output: 0 };
  const prices = { m: { input: 10, output: 0, cached: 1 } };
  expect(priceOf({ model: "m", provider: "x", usage: more, prices })).toBeCloseTo(1, 10);
});

test("priceOf() prefers the most exact name", () => {
  const free = { input: 0, output: 0 };
  const names = ["openrouter/acme/large", "acme/large", "large"];
  const known: Record<string, ModelPrice> = {};
  for (const [index, name] of names.toReversed().entries()) {
    known[name] = { input: index + 1, output: 0 };
    expect(price(known)).toBe(index + 1);
  }
  expect(price({ ...known, openrouter: free, larg: free })).toBe(3);
});

test("priceOf() finds a model whose name begins with its provider", () => {
  expect(price({ "acme/large": { input: 1, output: 0 } }, "openrouter/acme/large")).toBe(1);
});

test("priceOf() knows no price by itself", () => {
  expect(price({})).toBeUndefined();
  expect(price({}, "constructor")).toBeUndefined();
});

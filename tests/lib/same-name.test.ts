import { expect, test } from "bun:test";
import { findSameName, isSameName } from "../../src/lib/same-name.ts";

test.each([
  ["open-router", "openRouter"],
  ["open_router", "OPEN ROUTER"],
  ["open.router", "openrouter"],
])("isSameName() takes %j and %j for one", (one, other) => {
  expect(isSameName(one, other)).toBe(true);
});

test.each([
  ["openai", "openrouter"],
  ["gpt4", "gpt5"],
  ["🐈", "🐕"],
  ["-", "_"],
])("isSameName() keeps %j and %j apart", (one, other) => {
  expect(isSameName(one, other)).toBe(false);
});

test("findSameName() prefers the name itself to another spelling that comes before it", () => {
  expect(findSameName("a_b", ["aB", "a_b", "a-b"])).toBe("a_b");
  expect(findSameName("A-B", ["c", "aB", "a_b"])).toBe("aB");
  expect(findSameName("x", ["aB"])).toBeUndefined();
});

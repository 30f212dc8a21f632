import { describe, expect, test } from "bun:test";
import { near, tellingPart } from "../../../src/providers/wire/refusal-text.ts";

describe("near()", () => {
  test.each([
    ["temperature is not supported", true],
    ["not supported: temperature", true],
    [`temperature${".".repeat(120)}not supported`, true],
    [`temperature${".".repeat(121)}not supported`, false],
    [`not supported${".".repeat(121)}temperature`, false],
    ["temperature", false],
  ])("finds both words in %p: %p", (text, expected) => {
    expect(near("temperature", "not supported").test(text)).toBe(expected);
  });
});

describe("tellingPart()", () => {
  test("is the beginning, on one line, without empty fields", () => {
    expect(tellingPart('{"error":\n  {"message": "no",  "param": null}}')).toBe(
      '{"error": {"message": "no", }}',
    );
    expect(tellingPart("x".repeat(64 * 1024))).toHaveLength(4000);
  });
});

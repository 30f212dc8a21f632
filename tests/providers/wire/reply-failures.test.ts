import { describe, expect, test } from "bun:test";
import { refusalIn } from "../../../src/providers/wire/reply-failures.ts";

describe("refusalIn()", () => {
  test.each([
    [{ code: 429 }, 429],
    [{ code: "503" }, 503],
    [{ status: 402 }, 402],
    [{ code: "rate_limited", status: 429 }, 429],
    [{ code: 200 }, undefined],
    [{ code: 600 }, undefined],
    [{ code: null }, undefined],
    ["overloaded", undefined],
    [null, undefined],
  ])("takes the status from %j", (error, status) => {
    expect(refusalIn(error).status).toBe(status as number);
  });

  test("prefers the status that the error gives to the one of its names", () => {
    expect(refusalIn({ code: 429 }, () => 500).status).toBe(429);
    expect(refusalIn({ code: "x" }, ({ code }) => (code === "x" ? 500 : 400)).status).toBe(500);
  });

  test.each([
    ["Please try again in 11.054s.", "11054"],
    ["try again in 200ms", "200"],
    ["try again in 3 s", "3000"],
    ["try again in a minute", null],
  ])("hears when to come again from %p", (message, expected) => {
    expect(refusalIn({ message }).headers?.get("retry-after-ms") ?? null).toBe(expected);
  });

  test("keeps what was said, and nothing of what is nested too deeply", () => {
    expect(refusalIn({ message: "oops" }).body).toBe('{"error":{"message":"oops"}}');
    const deep = JSON.parse(`${'{"a":'.repeat(600)}1${"}".repeat(600)}`);
    expect(refusalIn(deep).body).toBe("");
  });
});

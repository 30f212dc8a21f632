import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseToolArguments } from "../../src/lib/tool-arguments.ts";
import {
  failedBecause,
  INTERRUPTED,
  notMadeFor,
  toolFailure,
  unfitArguments,
  unknownTool,
} from "../../src/lib/tool-failure.ts";

const text = fc.string({ unit: "binary", maxLength: 50 });

test("toolFailure() begins as an error, ends with advice, and gives its problem back", () => {
  expect(toolFailure("no such file")).toBe("Error: no such file\n[Read the error and try another way.]");
  fc.assert(fc.property(text, (problem) => expect(failedBecause(toolFailure(problem))).toBe(problem)));
});

test("failedBecause() takes no text for a failure that only begins like one", () => {
  for (const read of ["", "Error: ", "Error: as a log has it", "x\n[Read the error and try another way.]"])
    expect(failedBecause(read)).toBeUndefined();
});

test("failedBecause() knows a call that was interrupted", () => {
  expect(failedBecause(INTERRUPTED)).toStartWith("interrupted, outcome unknown");
});

test("notMadeFor() tells a tool that there is none of by its name", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", " ", ".", ";", "\n", "é") }), (name) => {
      expect(notMadeFor(unknownTool(name, undefined, ["a", "b"]))).toEqual({ for: "name", name });
      expect(notMadeFor(unknownTool(name, "a", ["a", "b"]))).toEqual({ for: "name", name });
    }),
  );
});

test("notMadeFor() tells arguments that are none, whatever is wrong with them", () => {
  for (const given of ["{", "[]", "5", `{"a":${"[".repeat(80)}${"]".repeat(80)}}`, "x".repeat(5_000_000)]) {
    const parsed = parseToolArguments(given);
    expect(parsed.ok ? "ok" : notMadeFor(parsed.problem)).toEqual({ for: "arguments" });
  }
  expect(notMadeFor(unfitArguments("do not fit"))).toEqual({ for: "arguments" });
});

test("notMadeFor() says nothing of a call that was made", () => {
  for (const problem of ["", "it is bad", "not allowed: the arguments "])
    expect(notMadeFor(problem)).toBeUndefined();
});

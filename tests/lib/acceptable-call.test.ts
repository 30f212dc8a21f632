import { expect, test } from "bun:test";
import fc from "fast-check";
import { acceptableArguments, acceptableName } from "../../src/lib/acceptable-call.ts";

test.each([
  ["read_file", "read_file"],
  ["functions.exec!", "functions_exec_"],
  ["naïve 🐈", "na_ve__"],
  ["", "unknown"],
  ["x".repeat(70), "x".repeat(64)],
])("acceptableName() makes of %j %j", (name, expected) => {
  expect(acceptableName(name)).toBe(expected);
});

test("acceptableName() gives any name the form that vendors ask for", () => {
  const name = fc.string({ unit: "binary", maxLength: 100 });
  fc.assert(fc.property(name, (text) => /^[a-zA-Z0-9_-]{1,64}$/.test(acceptableName(text))));
});

test.each([
  ["an object", '{"command": "ls"}', '{"command": "ls"}'],
  ["a list of one", '[{"command":"ls"}]', '{"command":"ls"}'],
  ["a list of two", '[{"command":"ls"},{"command":"ls"}]', "{}"],
  ["no JSON", '{"command":', "{}"],
  ["JSON in a string", '"{\\"command\\":\\"ls\\"}"', '{"command":"ls"}'],
  ["nothing", "", "{}"],
])("acceptableArguments() is the text of an object for %s", (_, text, expected) => {
  expect(acceptableArguments(text)).toBe(expected);
});

test("acceptableArguments() makes an object of any text", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (text) => {
      const value: unknown = JSON.parse(acceptableArguments(text));
      return typeof value === "object" && value !== null && !Array.isArray(value);
    }),
  );
});

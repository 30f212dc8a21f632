import { expect, test } from "bun:test";
import { expandVariables, variablesIn } from "../../src/config/expand.ts";
import { variable } from "./fixture.ts";

test("expandVariables() replaces variables in every string and changes nothing it was given", () => {
  const value = { a: [`x-${variable("A")}-${variable("A")}`, 5, null, true], b: { c: variable("B_2") } };
  const before = structuredClone(value);
  expect(expandVariables(value, { A: "1", B_2: "$&" }, [])).toEqual({
    a: ["x-1-1", 5, null, true],
    b: { c: "$&" },
  });
  expect(value).toEqual(before);
});

test("expandVariables() does not expand what it put in, nor keys, nor what is no name", () => {
  const env = { A: variable("B"), B: "b", "1X": "x" };
  const other = `$A ${variable("1X")} ${variable("")} ${variable("A-B")}`;
  expect(expandVariables({ [variable("B")]: variable("A"), other }, env, [])).toEqual({
    [variable("B")]: variable("B"),
    other,
  });
});

test("expandVariables() names the key and the variable that is not set", () => {
  const section = { apiKeys: ["a", variable("MISSING")] };
  expect(() => expandVariables(section, {}, ["providers", "openai"])).toThrow(
    "Expand providers.openai.apiKeys[1]: the environment variable MISSING is not set",
  );
});

test("expandVariables() takes an empty variable for what it is", () => {
  expect(expandVariables(variable("A"), { A: "" }, [])).toBe("");
});

test("variablesIn() lists the names", () => {
  expect(variablesIn(`Bearer ${variable("A")}${variable("B")}`)).toEqual(["A", "B"]);
  expect(variablesIn("plain")).toEqual([]);
});

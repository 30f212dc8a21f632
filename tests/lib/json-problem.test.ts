import { expect, test } from "bun:test";
import { jsonProblem } from "../../src/lib/json-problem.ts";

test.each([
  ["", "it is empty"],
  [" \n", "it is empty"],
  ['{\n  "a": 1,\n}', "line 2: there is a comma too many"],
  ["[1,\n2,\n]", "line 2: there is a comma too many"],
  ['{"a": 1\n"b": 2}', "line 1: a comma is missing"],
  ["{'a': 1}", "line 1: "],
  ['{\n"a" 1}', "line 2: expected a colon after the key"],
  ['{"a": 1', "line 1: a closing } is missing"],
  ["// no\n{}", "line 1: JSON has no comments"],
  ["{}\n{}", "line 2: there is more after the end"],
  ['{"a": "x', "line 1: a string is not closed"],
  ["[".repeat(200_000), "it is nested too deeply"],
])("jsonProblem() says where %j stops being JSON, and why", async (text, problem) => {
  expect(await jsonProblem(text)).toStartWith(problem);
});

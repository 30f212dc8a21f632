import { expect, test } from "bun:test";
import fc from "fast-check";
import { castToSchema, issueText, parseToolArguments } from "../../src/lib/tool-arguments.ts";

test("castToSchema() looks for the type among alternatives, whatever stands between them", () => {
  const schema = { anyOf: [null, { type: "integer" }, "x", { type: "null" }] };
  expect(castToSchema("5", schema)).toBe(5);
  expect(castToSchema("five", schema)).toBe("five");
});

test("castToSchema() casts in lists and objects, and leaves out a null that is not allowed", () => {
  const schema = {
    type: "object",
    properties: {
      on: { type: "boolean" },
      sizes: { type: "array", items: { type: "number" } },
      name: { type: "string" },
    },
  };
  expect(castToSchema({ on: "True", sizes: '["1", 2]', name: null, other: "1" }, schema)).toEqual({
    on: true,
    sizes: [1, 2],
    other: "1",
  });
});

test("parseToolArguments() replaces lone surrogates that stand as escapes, in keys and values", () => {
  const parsed = parseToolArguments('{"a\\ud800": ["\\udc00", 1]}');
  expect(parsed).toEqual({
    ok: true,
    value: { "a\ufffd": ["\ufffd", 1] },
    text: '{"a\ufffd":["\ufffd",1]}',
  });
});

test.each([
  ["an object", '{"command": "ls"}', '{"command": "ls"}'],
  ["nothing", " \n", "{}"],
  ["null", "null", "{}"],
  ["a string that holds an object", '"{\\"command\\":\\"ls\\"}"', '{"command":"ls"}'],
  ["a list of one object", '[{"command":"ls"}]', '{"command":"ls"}'],
  ["a string that holds a list of one object", '"[{\\"command\\":\\"ls\\"}]"', '{"command":"ls"}'],
  ["a list of one string that holds an object", '["{\\"command\\":\\"ls\\"}"]', '{"command":"ls"}'],
  ["a string that holds a broken object", '"{\\"command\\":\\"ls\\",}"', '{"command":"ls"}'],
  ["a fenced object", '```json\n{"command": "ls"}\n```', '{"command":"ls"}'],
  ["a fence that is left open", '```json\n{"command": "ls"}', '{"command":"ls"}'],
  ["a comma too many", '{"command":"ls",}', '{"command":"ls"}'],
  ["single quotes", "{'command': 'ls'}", '{"command": "ls"}'],
  ["keys without quotes", '{command: "ls"}', '{"command": "ls"}'],
  ["a bracket too many", '{"command":"ls"}}', '{"command":"ls"}'],
  ["newlines in a string", '{"content":"one\ntwo\t"}', '{"content":"one\\ntwo\\t"}'],
  ["Python's words", '{"all": True, "limit": None}', '{"all": true, "limit": null}'],
  ["a comment", '{"command":"ls"} // lists', '{"command":"ls"}'],
])("parseToolArguments() reads %s", (_, text, expected) => {
  const parsed = parseToolArguments(text);
  const value: unknown = JSON.parse(expected);
  expect(parsed).toMatchObject({ ok: true, value });
  expect(parsed.ok && JSON.parse(parsed.text)).toEqual(value);
});

test.each([
  ["a list of two", "[{},{}]", "must be one JSON object, not a list"],
  ["an empty list", "[]", "must be one JSON object, not a list"],
  ["a list of a list", "[[{}]]", "must be one JSON object, not a list"],
  ["a list of one word", '["ls"]', "must be one JSON object, not a list"],
  ["a string", '"ls"', "must be one JSON object, not a string"],
  ["a number", "7", "must be one JSON object, not a number"],
  ["a string in a string", JSON.stringify(JSON.stringify("{}")), "must be one JSON object, not a string"],
  ["two objects", '{"a":1}{"b":2}', "are not valid JSON: "],
  ["two objects on lines of their own", '{"a":1}\n{"b":2}', "must be one JSON object, not a list"],
  ["an object with prose behind it", '{"a":1} is it', "are not valid JSON: "],
  ["prose", "ls -la", "are not valid JSON: ls -la"],
  ["what cannot be mended", '{"a" ; 1}', "are not valid JSON: "],
  ["an object that breaks off", '{"path":"a","content":"half', "are not valid JSON and seem cut off: "],
  ["an object that breaks off behind a string", '{"path":"a","content":"half"', "seem cut off"],
  ["an object that breaks off behind an escape", '{"content":"half \\"}', "seem cut off"],
  ["an object that breaks off in a fence", '```json\n{"content":"half', "seem cut off"],
  ["an object in a string that breaks off", JSON.stringify('{"content":"half'), "seem cut off"],
  ["a broken object of great length", `{"content":"${"x\n".repeat(70_000)}"}`, "are not valid JSON: "],
  ["more than 4 MiB", `{"content":"${"x".repeat(4 * 1024 * 1024)}"}`, "longer than 4 MiB"],
  ["deep nesting", `${'{"a":'.repeat(70)}1${"}".repeat(70)}`, "deeper than 64 levels"],
  ["bottomless nesting", `${'{"a":'.repeat(100_000)}1,${"}".repeat(100_000)}`, "are not valid JSON: "],
])("parseToolArguments() refuses %s", (_, text, problem) => {
  expect(parseToolArguments(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
});

test("parseToolArguments() never completes an object that breaks off, wherever it does", () => {
  const values = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 });
  fc.assert(
    fc.property(values, fc.nat(), (value, end) => {
      const text = JSON.stringify(value);
      const begun = text.slice(0, 1 + (end % (text.length - 1)));
      expect(parseToolArguments(begun)).toEqual({ ok: false, problem: expect.stringContaining("cut off") });
    }),
  );
});

test("parseToolArguments() gives text that decodes to its value in one step, or a problem", () => {
  const char = fc.constantFrom(..."{}[]\"',:\\ \nab1`", '{"a":1}', '\\"', "\\ud800", "```json\n");
  const text = fc.oneof(
    fc.json(),
    fc.json().map((json) => JSON.stringify(json)),
    fc.string({ unit: char }),
  );
  fc.assert(
    fc.property(text, (text) => {
      const parsed = parseToolArguments(text);
      if (!parsed.ok) expect(parsed.problem).not.toBe("");
      else expect(JSON.parse(parsed.text)).toEqual(parsed.value);
    }),
    { numRuns: 1000 },
  );
});

const edits = { type: "array", items: { type: "object", properties: { n: { type: "integer" } } } };

test.each([
  ["one object to a list of it", { n: "5" }, edits, [{ n: 5 }]],
  ["one object in a string too", '{"n": 5}', edits, [{ n: 5 }]],
  ["a list as it is", [{ n: "5" }, { n: 6 }], edits, [{ n: 5 }, { n: 6 }]],
  ["no object where texts are listed", { n: 5 }, { type: "array", items: { type: "string" } }, { n: 5 }],
  ["no object where one may stand alone", { n: 5 }, { ...edits, type: ["array", "object"] }, { n: 5 }],
  ["nothing else", "n", edits, "n"],
])("castToSchema() makes %s", (_, value, schema, expected) => {
  expect(castToSchema(value, schema)).toEqual(expected);
});

test("issueText() shortens a long value, and no other part", () => {
  const issue = (received: string) => ({ message: `Expected Array but received ${received}`, received });
  expect(issueText(issue('"short $& one"'))).toBe('Expected Array but received "short $& one"');
  const text = issueText(issue(`"${"*** Begin Patch ".repeat(500)}"`));
  expect(text).toStartWith('Expected Array but received "*** Begin Patch');
  expect(text.length).toBeLessThan(120);
});

const command = { type: "object", properties: { command: { type: "string" }, n: { type: "integer" } } };

test.each([
  ["an object", { arguments: { command: "ls", n: "5" } }, { command: "ls", n: 5 }],
  ["text", { arguments: '{"command":"ls","n":"5"}' }, { command: "ls", n: 5 }],
])("castToSchema() takes arguments out of an envelope that holds %s", (_, value, expected) => {
  expect(castToSchema(value, command)).toEqual(expected);
});

test.each([
  [
    "which the schema knows",
    { arguments: {} },
    { type: "object", properties: { arguments: { type: "object" } } },
  ],
  ["of a schema without properties", { arguments: {} }, { type: "object" }],
  ["beside something else", { arguments: {}, command: "ls" }, command],
  ["that holds a list", { arguments: ["ls"] }, command],
  ["that holds prose", { arguments: "ls" }, command],
  [
    "further down",
    { options: { arguments: { a: 1 } } },
    { type: "object", properties: { options: { type: "object", properties: { a: { type: "integer" } } } } },
  ],
])("castToSchema() leaves arguments %s", (_, value, schema) => {
  expect(castToSchema(value, schema)).toEqual(value);
});

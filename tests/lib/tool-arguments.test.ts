import { expect, test } from "bun:test";
import { castToSchema, parseToolArguments } from "../../src/lib/tool-arguments.ts";

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

import { expect, test } from "bun:test";
import fc from "fast-check";
import { safeJson } from "../../src/lib/safe-json.ts";

test("safeJson() spells out what could steer a terminal", () => {
  expect(safeJson({ "\u009b": "\x1b[31m\u202e\u2028\x7f" })).toBe(
    '{"\\u009b":"\\u001b[31m\\u202e\\u2028\\u007f"}',
  );
});

test("safeJson() spells out both units of a character beyond U+FFFF", () => {
  expect(safeJson(["\u{e0001}"])).toBe('["\\udb40\\udc01"]');
});

test("safeJson() leaves letters, signs and the newlines of the indentation", () => {
  expect(safeJson({ ä: "🐈\n" }, 2)).toBe('{\n  "ä": "🐈\\n"\n}');
});

test("safeJson() decodes to what it was given and holds no control character but the newlines", () => {
  const value = fc.array(fc.string({ unit: "binary" }));
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (texts, indent) => {
      const json = safeJson(texts, indent);
      expect(JSON.parse(json)).toEqual(texts);
      expect(json.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
      if (indent === undefined) expect(json).not.toContain("\n");
    }),
  );
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { layOutJson } from "../../src/lib/json-layout.ts";

test("layOutJson() lays out any JSON as JSON.stringify() does", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (json) => {
      expect(layOutJson(json, Infinity)).toBe(JSON.stringify(JSON.parse(json), null, 2));
    }),
  );
});

test("layOutJson() changes no value: not long numbers, doubled keys, escapes or their order", () => {
  const json = '{"b":1.50,"2":1e400,"1":123456789012345678901,"b":"\\u00e9\\/"}';
  expect(layOutJson(json, Infinity)).toBe(
    '{\n  "b": 1.50,\n  "2": 1e400,\n  "1": 123456789012345678901,\n  "b": "\\u00e9\\/"\n}',
  );
});

test("layOutJson() gives nothing for what is no JSON", () => {
  for (const text of ["", "{", "{'a':1}", "[1,]", "NaN", '{"a":1} b']) {
    expect(layOutJson(text, Infinity)).toBeUndefined();
  }
});

test("layOutJson() goes through long strings and deep lists", () => {
  const long = JSON.stringify('"\\\n'.repeat(200_000));
  expect(layOutJson(long, Infinity)).toBe(long);
  expect(layOutJson(`${"[".repeat(2_000)}${"]".repeat(2_000)}`, Infinity)?.length).toBeLessThan(200_000);
});

test("layOutJson() stops soon behind what is of use", () => {
  expect(layOutJson(`[${"1,".repeat(100_000)}1]`, 50)?.length).toBeLessThan(60);
});

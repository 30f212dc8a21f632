import { expect, test } from "bun:test";
import fc from "fast-check";
import { decodeSessionKey, encodeSessionKey } from "../../src/lib/session-key.ts";

// Short enough for a name that holds all of the key.
const anyKey = fc.string({ unit: "binary", maxLength: 45 });

test("encodeSessionKey() keeps keys apart that other programs mix up", () => {
  const keys = [
    "telegram:a_b",
    "telegram:a:b",
    "telegram/a:b",
    "TELEGRAM:A:B",
    "telegram:../x",
    "telegram:a b",
    "",
  ];
  const names = keys.map(encodeSessionKey);
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(keys.length);
  expect(names[0]).toBe("telegram=3aa=5fb");
});

test("encodeSessionKey() makes names that every file system takes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 600 }), (key) => {
      const name = encodeSessionKey(key);
      expect(name).toMatch(/^[a-z0-9=~.-]+$/);
      expect(name.length).toBeLessThanOrEqual(225);
      expect(name).not.toMatch(/^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/);
    }),
  );
});

test("encodeSessionKey() gives no name of a Windows device", () => {
  for (const key of ["con", "nul", "aux", "prn", "com1", "lpt9"]) {
    expect(encodeSessionKey(key)).not.toBe(key);
    expect(decodeSessionKey(encodeSessionKey(key))).toBe(key);
  }
});

test("decodeSessionKey() gives the key back", () => {
  fc.assert(fc.property(anyKey, (key) => decodeSessionKey(encodeSessionKey(key)) === key));
});

test("encodeSessionKey() keeps long keys apart", () => {
  const long = "x".repeat(300);
  expect(encodeSessionKey(`${long}a`)).not.toBe(encodeSessionKey(`${long}b`));
});

test("decodeSessionKey() refuses names it did not make", () => {
  for (const name of ["cli_direct", "a=3Ab", "a=zz", "A", "a.b", "=61"])
    expect(decodeSessionKey(name)).toBeUndefined();
});

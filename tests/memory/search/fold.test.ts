import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createAlphabet, fold } from "../../../src/memory/search/fold.ts";

describe("fold()", () => {
  test.each([
    ["MÜLLER", "muller"],
    ["Straße STRAẞE", "strasse strasse"],
    ["ＡＢＣ１２３", "abc123"],
    ["ﬁne ½ №", "fine 1⁄2 no"],
    ["ΟΔΟΣ οδός", "οδοσ οδοσ"],
    ["İstanbul ısı", "istanbul isi"],
    ["Ёлка Йод", "елка иод"],
    ["ｶﾞ か\u3099 が", "ガ が が"],
    ["각 \u1100\u1161\u11a8", "각 각"],
    ["שָׁלוֹם مُحَمَّد", "שלום محمد"],
    ["don’t", "don't"],
    ["so\u00adft\u200b", "soft"],
  ])("makes %j to %j", (text, folded) => {
    expect(fold(text)).toBe(folded);
  });

  test("leaves what it has folded as it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => void expect(fold(fold(text))).toBe(fold(text))),
    );
  });
});

describe("createAlphabet()", () => {
  const { unusual, pattern } = createAlphabet();
  const isUnusual = new RegExp(unusual);
  const units = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
  const plain = units.filter((unit) => !isUnusual.test(unit));

  test("calls plain only what folds to one of the same length, or to nothing with a letter in it", () => {
    expect(plain.length).toBeGreaterThan(30_000);
    const wrong = plain.filter(
      (unit) => fold(unit).length !== 1 && (/[\p{L}\p{N}\p{M}]/u.test(fold(unit)) || fold(unit) === ""),
    );
    expect(wrong).toEqual([]);
  });

  test("calls plain only the pictures among characters of two units that it knows by their first", () => {
    const pairs = Array.from({ length: 0x400 }, (_, low) => `\ud83d${String.fromCharCode(0xdc00 + low)}`);
    expect(pairs.filter((pair) => fold(pair) !== pair)).toEqual([]);
  });

  test("finds in plain text, unit for unit, what is in the folded text", () => {
    const letters = plain.filter((unit) => /^[\p{L}\p{N}]$/u.test(fold(unit)));
    expect(letters.filter((unit) => !new RegExp(pattern(fold(unit))).test(unit))).toEqual([]);
    const latin = letters.filter((unit) => unit < "\u0530");
    const text = fc.array(fc.oneof(fc.constantFrom(...latin), fc.constantFrom(...letters)), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (chars, one, other) => {
        const whole = chars.join("");
        const folded = fold(whole);
        expect(folded.length).toBe(whole.length);
        const [from = 0, to = 0] = [one % folded.length, other % folded.length].sort((a, b) => a - b);
        const part = folded.slice(from, to + 1);
        const found = new RegExp(pattern(part)).exec(whole);
        expect(found?.index).toBe(folded.indexOf(part));
      }),
      { numRuns: 2_000 },
    );
  });

  test("finds what it was made of, whatever that is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (text) => {
        expect(new RegExp(`^${pattern(text)}$`).test(text)).toBe(true);
      }),
    );
  });
});

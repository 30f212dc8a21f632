import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { excerptOf } from "../../../src/memory/search/excerpt.ts";
import { createAlphabet } from "../../../src/memory/search/fold.ts";
import { parseQuery } from "../../../src/memory/search/words.ts";

const alphabet = createAlphabet();
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

function excerpt(text: string, words: string, mask = (line: string) => line) {
  const query = parseQuery(words, alphabet);
  return excerptOf(text, { query, weights: query.words.map(() => 1), mask });
}

describe("excerptOf()", () => {
  test("shows a short text whole, on one line", () => {
    expect(excerpt("  the kettle\n\tis \x1b[31mred ", "kettle")).toBe("the kettle is red");
  });

  test("shows about 240 characters around the word, between whole words, and that there is more", () => {
    const shown = excerpt(`${"before ".repeat(100)}kettle ${"after ".repeat(100)}`, "kettle") ?? "";
    expect(shown).toMatch(/^…(before )+kettle( after)+…$/);
    expect(shown.length).toBeGreaterThan(200);
    expect(shown.length).toBeLessThanOrEqual(242);
  });

  test("shows the beginning and the end as such", () => {
    expect(excerpt(`kettle ${"after ".repeat(100)}`, "kettle")).toMatch(/^kettle( after)+…$/);
    expect(excerpt(`${"before ".repeat(100)}kettle`, "kettle")).toMatch(/^…(before )+kettle$/);
  });

  test.each([
    ["in a text", 50],
    ["in a text of several parts", 2_000],
  ])("shows where most of the words stand together, %s", (_, count) => {
    const far = "words ".repeat(count);
    const shown = excerpt(
      `kettle ${far} the red kettle of the office ${far} red ${far} office`,
      "red kettle office",
    );
    expect(shown).toContain("the red kettle of the office");
  });

  test("shows the place in text that must be folded first", () => {
    const far = "Ｗörte ".repeat(300);
    expect(excerpt(`${far}Straẞe um die Ecke ${far}`, "strasse")).toContain("Straẞe um die Ecke");
    expect(excerpt(`${"ﬃ".repeat(900)} kettle ${"ﬃ".repeat(900)}`, "kettle")).toContain("kettle");
  });

  test("masks before it cuts, and shows nothing when the word was only in what is masked", () => {
    const mask = (line: string) => line.replaceAll("secret-kettle", "[masked]");
    expect(excerpt("my secret-kettle", "kettle", mask)).toBeUndefined();
    expect(excerpt("my secret-kettle and a kettle", "kettle", mask)).toBe("my [masked] and a kettle");
  });

  test("holds a word that is longer than an excerpt, cut", () => {
    const word = "x".repeat(400);
    const shown = excerpt(`before ${word} after`, word) ?? "";
    expect(shown).toContain("x".repeat(200));
    expect(shown.length).toBeLessThanOrEqual(242);
  });

  test.each(["👨‍👩‍👧‍👦", "🇦🇹", "e\u0301", "\u1100\u1161\u11a8"])("cuts no %j in two", (character) => {
    const shown = excerpt(`${character.repeat(300)} kettle ${character.repeat(300)}`, "kettle") ?? "";
    const shownCharacters = new Set([...graphemes.segment(shown)].map(({ segment }) => segment));
    expect([...shownCharacters].sort()).toEqual([...new Set([...` ketl…`, character])].sort());
  });

  test("is one line and well-formed, whatever the text is", () => {
    const parts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.string({ unit: "grapheme", maxLength: 300 }),
      fc.constantFrom(
        "👨‍👩‍👧‍👦".repeat(60),
        "e\u0301".repeat(300),
        "🇦🇹".repeat(100),
        "字".repeat(400),
        "\ud800",
        "a\u0301".padEnd(900, "\u0301"),
      ),
    );
    fc.assert(
      fc.property(parts, parts, (before, after) => {
        const text = `${before} kettle ${after}`;
        const shown = excerpt(text, "kettle") ?? "";
        expect(shown).toContain("kettle");
        expect(shown.isWellFormed()).toBe(true);
        expect(shown.length).toBeLessThanOrEqual(242);
        expect(shown).not.toMatch(/[\n\r\x1b\u202e]/);
      }),
      { numRuns: 500 },
    );
  });
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { exactText } from "../../src/lib/exact-text.ts";

test("exactText() spells out what steers a terminal, hides or turns text around", () => {
  const cases: [string, string][] = [
    ["ls -la", "ls -la"],
    ["a\nb", "a\nb"],
    ["a\r\x1b[2Kb", "a⟨U+000D⟩⟨U+001B⟩[2Kb"],
    ["a\tb\x00\x7f\x9b", "a⟨U+0009⟩b⟨U+0000⟩⟨U+007F⟩⟨U+009B⟩"],
    ["rm \u202efdp.txt\u202c", "rm ⟨U+202E⟩fdp.txt⟨U+202C⟩"],
    ["a\u2066b\u2069\u200b\u200d\u00ad\ufeff", "a⟨U+2066⟩b⟨U+2069⟩⟨U+200B⟩⟨U+200D⟩⟨U+00AD⟩⟨U+FEFF⟩"],
    ["a\u2028b\u2029\u0085", "a⟨U+2028⟩b⟨U+2029⟩⟨U+0085⟩"],
    ["a\u00a0b\u3000c\u3164", "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+3164⟩"],
    ["\u{e0041}\ud800", "⟨U+E0041⟩⟨U+D800⟩"],
    ["Grüße 日本 🐈 e\u0301", "Grüße 日本 🐈 e\u0301"],
    ["e\u0301\u0301\u0301", "e\u0301\u0301⟨U+0301⟩"],
    ["a\u2800b", "a⟨U+2800⟩b"],
    ["https://x.example\u2215y.example\u2024com", "https://x.example⟨U+2215⟩y.example⟨U+2024⟩com"],
    ["p\u0430ypal \u0440aypal", "p⟨U+0430⟩ypal ⟨U+0440⟩aypal"],
    ["Привет, мир: ls документы/a.txt Ελλάδα 5 µm", "Привет, мир: ls документы/a.txt Ελλάδα 5 µm"],
  ];
  for (const [given, wanted] of cases) expect(exactText(given)).toBe(wanted);
});

test("exactText() leaves nothing invisible of any text, and keeps its lines", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      const shown = exactText(text);
      expect(shown).not.toMatch(/[^\P{C}\n]/u);
      expect(shown).not.toMatch(/\u2028|\u2029|\u115f|\u3164|\u034f/);
      expect(shown.split("\n")).toHaveLength(text.split("\n").length);
    }),
  );
});

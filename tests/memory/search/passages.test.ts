import { expect, test } from "bun:test";
import fc from "fast-check";
import { passagesOf } from "../../../src/memory/search/passages.ts";

function passages(text: string) {
  return [...passagesOf({ at: 0, bytes: Buffer.from(text) })];
}

test("passagesOf() parts entries, points, headings and paragraphs, and keeps lines of one together", () => {
  const text = [
    "# Facts",
    "about tea",
    "- green",
    "  and hot",
    "* black",
    "1. first",
    "",
    "one paragraph",
    "of two lines",
    "  ",
    "[2026-03-01 09:30] an entry",
    "[2026-03-02T10:00:05] another",
  ].join("\n");
  expect(passages(text).map((passage) => [passage.text, passage.stamp])).toEqual([
    ["# Facts\nabout tea", undefined],
    ["- green\n  and hot", undefined],
    ["* black", undefined],
    ["1. first", undefined],
    ["one paragraph\nof two lines", undefined],
    ["[2026-03-01 09:30] an entry", "2026-03-01 09:30"],
    ["[2026-03-02T10:00:05] another", "2026-03-02T10:00:05"],
  ]);
});

test("passagesOf() says where each one lies, and loses nothing but blank lines", () => {
  const lines = fc.array(
    fc.constantFrom("", " ", "- é", "text 🐈", "# h", "[2026-03-01] e", "x".repeat(5_000)),
  );
  fc.assert(
    fc.property(lines, (all) => {
      const text = all.join("\n");
      const bytes = Buffer.from(text);
      const found = passages(text);
      for (const passage of found) {
        expect(bytes.toString("utf8", passage.from, passage.to)).toBe(passage.text);
        expect(passage.text.length).toBeLessThanOrEqual(8_000);
      }
      expect(found.flatMap((passage) => passage.text.split("\n"))).toEqual(
        all.filter((line) => line.trim() !== ""),
      );
    }),
  );
});

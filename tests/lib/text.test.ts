import { expect, test } from "bun:test";
import fc from "fast-check";
import { estimateTokens } from "../../src/lib/estimate.ts";
import { nearest } from "../../src/lib/nearest.ts";
import { clip, head, headTail, oneLine, stripControls, tail, wellFormed } from "../../src/lib/text.ts";

const anyText = fc.string({ unit: "binary", maxLength: 200 }).map(wellFormed);

test("head(), tail(), clip() and headTail() never cut a character in two", () => {
  fc.assert(
    fc.property(anyText, fc.nat(120), (text, max) => {
      for (const cut of [head(text, max), tail(text, max), clip(text, max), headTail(text, max, () => "…")]) {
        expect(cut.isWellFormed()).toBe(true);
      }
      expect(head(text, max).length).toBeLessThanOrEqual(max);
      expect(tail(text, max).length).toBeLessThanOrEqual(max);
      expect(text.startsWith(head(text, max))).toBe(true);
      expect(text.endsWith(tail(text, max))).toBe(true);
    }),
  );
});

test("headTail() keeps beginning and end, says how much is gone, and stays within its limit", () => {
  const text = `begin${"x".repeat(1_000)}end`;
  const cut = headTail(text, 100, (gone) => `[${gone}]`);
  expect(cut).toStartWith("begin");
  expect(cut).toEndWith("end");
  expect(cut.length).toBeLessThanOrEqual(100);
  const gone = Number(/\[(\d+)\]/.exec(cut)?.[1]);
  expect(gone).toBe(text.length - (cut.length - `[${gone}]`.length));
});

test("stripControls() removes what steers a terminal and keeps the text", () => {
  const cases: [string, string][] = [
    ["\u001b[31mred\u001b[0m", "red"],
    ["\u001b]0;title\u0007text", "text"],
    ["\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["\u001bPq payload\u001b\\after", "after"],
    ["\u001b]52;c;stolen\nthe rest", "\nthe rest"],
    ["a\u009b31mb", "a31mb"],
    ["a\rb\r\nc", "ab\nc"],
    ["tab\tand\nnewline", "tab\tand\nnewline"],
    ["abc\u202edef\u2066g", "abcdefg"],
    ["\u001b", ""],
    ["\u001b[", ""],
    ["\u0007\u0008\u007f\u0000", ""],
  ];
  for (const [given, wanted] of cases) expect(stripControls(given)).toBe(wanted);
});

test("stripControls() leaves no control character of any text", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("\u001b", "[", "]", "P", "3", "m", "\u0007", "\\", "a", "\n") }),
      (text) => {
        expect(stripControls(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      },
    ),
  );
});

test("oneLine() folds white space and clips", () => {
  expect(oneLine("  a\n b\t\tc ", 10)).toBe("a b c");
  expect(oneLine("abcdef", 4)).toBe("abc…");
});

test("estimateTokens() is near the real count for prose, code, data and other scripts", () => {
  // Counts by o200k.
  const samples: [string, number][] = [
    [
      "The quick brown fox jumps over the lazy dog. It was a sunny day, and everybody went outside to play.",
      23,
    ],
    ["今天天气很好，我们去公园散步吧。明天可能会下雨。", 18],
    ["const total = items.reduce((sum, item) => sum + item.price * item.count, 0);", 21],
  ];
  for (const [text, tokens] of samples) {
    const ratio = estimateTokens(text) / tokens;
    expect(ratio).toBeGreaterThan(0.7);
    expect(ratio).toBeLessThan(1.4);
  }
  expect(estimateTokens("")).toBe(0);
});

test("nearest() finds a slip and nothing else", () => {
  const words = ["agent", "sessions", "status", "tools"];
  expect(nearest("sesions", words)).toBe("sessions");
  expect(nearest("STATUS", words)).toBe("status");
  expect(nearest("agnet", words)).toBe("agent");
  expect(nearest("gateway", words)).toBeUndefined();
  expect(nearest("", words)).toBeUndefined();
});

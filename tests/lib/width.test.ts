import { describe, expect, test } from "bun:test";
import { approximateWidth } from "../../src/lib/width.ts";

describe("approximateWidth()", () => {
  test.each([
    "plain text, with signs: §±×÷€",
    "naïve café e\u0301 Ελλάδα русский",
    "你好，世界 日本語のテキスト カタカナ 한국어 ｆｕｌｌ",
    "🐈 👍🏽 👨‍👩‍👧 🇩🇪 ❤️ ✅",
    "\x1b[1m\x1b[38;5;215mstyled\x1b[0m",
    "┌──┐│•─└──┘",
    "",
  ])("agrees with the terminal's own width for %j", (text) => {
    expect(approximateWidth(text)).toBe(Bun.stringWidth(text));
  });

  test("counts no cell for control characters", () => {
    expect(approximateWidth("a\tb\n\u200b")).toBe(2);
  });
});

import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { createPlainText } from "../../../src/lib/markdown/plain-text.ts";
import { createTelegramRenderer } from "../../../src/lib/markdown/telegram-html.ts";
import { type SplitOptions, splitMarkdown } from "../../../src/lib/split/markdown.ts";
import { measures } from "../../../src/lib/split/measures.ts";
import { markdownish } from "../markdown/arbitrary.ts";
import { checkedText } from "../markdown/check-html.ts";

const render = await createTelegramRenderer();
const plainText = await createPlainText();
const telegram: SplitOptions = { limit: 4_096, measure: measures.utf16, render };
const small: SplitOptions = { limit: 60, measure: measures.utf16 };

function markdownOf(text: string, options: SplitOptions): readonly string[] {
  return splitMarkdown(text, options).map(({ markdown }) => markdown);
}

/** Letters and digits, which no mark is made of. */
function letters(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, "");
}

function expectAll(text: string, options: SplitOptions): void {
  const pieces = splitMarkdown(text, options);
  for (const piece of pieces) {
    expect(options.measure(piece.text)).toBeLessThanOrEqual(options.limit);
    expect(options.measure(piece.markdown)).toBeLessThanOrEqual(options.limit);
    expect(piece.text.isWellFormed()).toBe(true);
    expect(piece.text.trim()).not.toBe("");
    if (options.render === render) checkedText(piece.text);
  }
}

describe("splitMarkdown()", () => {
  test("leaves a text that fits as it is", () => {
    expect(splitMarkdown("**a**\n\nb", telegram)).toEqual([
      { markdown: "**a**\n\nb", text: "<b>a</b>\n\nb" },
    ]);
  });

  test("gives nothing for what cannot be seen", () => {
    for (const text of ["", " \n\t ", "\u200b\u2060", "\0\0", "\n".repeat(10_000)]) {
      expect(splitMarkdown(text, telegram)).toEqual([]);
    }
  });

  test("cuts 9,000 characters of words into pieces within the limit, each word once", () => {
    const pieces = splitMarkdown("word ".repeat(1_800), telegram);
    expect(pieces.length).toBeGreaterThanOrEqual(3);
    expect(pieces.flatMap(({ text }) => text.split(" "))).toEqual(Array(1_800).fill("word"));
    expectAll("word ".repeat(1_800), telegram);
  });

  test("closes a fence at the cut and opens it again in its language", () => {
    const code = Array.from({ length: 150 }, (_, line) => `print("line ${line} <&>") # ${"x".repeat(15)}`);
    const text = `${"prose ".repeat(50)}\n\n\`\`\`python\n${code.join("\n")}\n\`\`\`\n\n${"after ".repeat(33)}`;
    const pieces = splitMarkdown(text, telegram);
    expectAll(text, telegram);
    expect(pieces.length).toBeGreaterThan(1);
    const opened = pieces.filter(({ text }) => text.includes('<pre><code class="language-python">'));
    expect(opened).toHaveLength(pieces.length);
    const lines = pieces.flatMap(({ text }) => checkedText(text).split("\n"));
    expect(lines.filter((line) => line.startsWith("print("))).toEqual(code);
    expect(pieces.at(-1)?.text).toEndWith("after");
  });

  test.each([
    ["```js", "```"],
    ["~~~~ js", "~~~~"],
    ["`````js", "`````"],
  ])("opens %s again as it was", (opening, closing) => {
    const text = `${opening}\n${"a line of code\n".repeat(9)}${closing}`;
    const pieces = markdownOf(text, small);
    expect(pieces.length).toBeGreaterThan(2);
    for (const piece of pieces) {
      expect(piece.replace(" js", "js")).toStartWith(opening.replace(" ", ""));
      expect(piece).toEndWith(`\n${closing}`);
    }
  });

  test("does not end a fence at a shorter one", () => {
    const pieces = markdownOf(`\`\`\`\`\n${"```\ninner\n```\n".repeat(6)}\`\`\`\``, small);
    for (const piece of pieces) expect(piece).toStartWith("````\n");
    expect(pieces.join("\n").match(/inner/g)).toHaveLength(6);
  });

  test("opens a fence in a quote again in the quote", () => {
    const pieces = markdownOf(`> \`\`\`sh\n${"> a line of code\n".repeat(6)}> \`\`\`\n> end`, small);
    for (const piece of pieces.slice(0, -1)) {
      expect(piece).toStartWith("> ```sh\n> a line");
      expect(piece).toEndWith("\n> ```");
    }
  });

  test("moves what stands in a list that was cut to the left, so that it is no code", () => {
    const text = `- a\n${"    - some words in a list\n".repeat(5)}      \`\`\`js\n      code()\n      \`\`\`\n- end`;
    const pieces = splitMarkdown(text, { ...telegram, limit: 90 });
    expect(pieces.length).toBeGreaterThan(1);
    for (const { text } of pieces.slice(1)) expect(text).not.toMatch(/<pre>[^<]*some words/);
    expect(pieces.map(({ text }) => text).join()).toContain(
      '<pre><code class="language-js">code()</code></pre>',
    );
  });

  test("leaves indented code that was cut indented", () => {
    for (const piece of markdownOf("    line of code\n".repeat(9), small))
      expect(piece).toStartWith("    line");
  });

  test("cuts at a blank line rather than at a line, at a line rather than in it", () => {
    expect(markdownOf(`${"a ".repeat(20)}\n\n${"b ".repeat(5)}\n${"c ".repeat(9)}`, small)[0]).toBe(
      "a ".repeat(20).trim(),
    );
    expect(markdownOf(`${"a ".repeat(20)}\n${"b ".repeat(20)}`, small)[0]).toBe("a ".repeat(20).trim());
  });

  test("cuts at the end of a sentence rather than at a space", () => {
    expect(markdownOf(`${"word ".repeat(7)}end. ${"more ".repeat(9)}`, small)[0]).toBe(
      `${"word ".repeat(7)}end.`,
    );
    expect(markdownOf(`${"词".repeat(40)}。${"词".repeat(40)}`, small)[0]).toBe(`${"词".repeat(40)}。`);
  });

  test("does not cut bold, code or a link where there is another place", () => {
    const pieces = markdownOf(`${"word ".repeat(7)}**bold words that go on** ${"word ".repeat(6)}`, small);
    expect(pieces[1]).toContain("**bold words that go on**");
    const link = "[a text of a link](http://example.org/some/where)";
    expect(markdownOf(`${"word ".repeat(7)}${link} ${"word ".repeat(6)}`, small)[1]).toContain(link);
    const code = "`some code with spaces`";
    expect(markdownOf(`${"word ".repeat(8)}${code} ${"word ".repeat(6)}`, small)[1]).toContain(code);
  });

  test("gives no piece that is only the beginning of something", () => {
    const long = "x".repeat(10_000);
    for (const text of [`# ${long}`, `- ${long}`, `> ${long}`, `\`\`\`js\n${long}\n\`\`\``]) {
      const [first] = splitMarkdown(text, telegram);
      expect(first?.text.length).toBeGreaterThan(3_000);
    }
  });

  test("does not leave a heading behind at the end of a piece", () => {
    const text = `${"word ".repeat(8)}\n# Title\n${"more ".repeat(9)}`;
    expect(markdownOf(text, small)).toEqual([
      "word ".repeat(8).trim(),
      `# Title\n${"more ".repeat(9).trim()}`,
    ]);
  });

  test("does not make a list or a heading of words that came to begin a piece", () => {
    for (const mark of ["-", "#", "1.", ">", "+"]) {
      const text = `${`some ${mark} `.repeat(30)}end`;
      for (const piece of markdownOf(text, small).slice(1)) expect(piece).not.toStartWith(mark);
    }
  });

  test("cuts a word that is longer than a piece between graphemes", () => {
    for (const grapheme of ["x", "👨‍👩‍👧", "🇩🇪", "e\u0301", "ক্ষি", "한"]) {
      const pieces = markdownOf(grapheme.repeat(200), small);
      expect(pieces.join("")).toBe(grapheme.repeat(200));
      for (const piece of pieces) expect(piece.length % grapheme.length).toBe(0);
    }
  });

  test("cuts a grapheme that is longer than a piece, but no surrogate pair", () => {
    for (const text of [`e${"\u0301".repeat(3_000)}`, `👨${"\u200d👨".repeat(500)}`]) {
      const pieces = markdownOf(text, small);
      expect(pieces.join("")).toBe(text.toWellFormed());
      for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
    }
  });

  test("counts as the platform does", () => {
    const text = "😀".repeat(100);
    expect(markdownOf(text, { limit: 10, measure: measures.utf16 })[0]).toBe("😀".repeat(5));
    expect(markdownOf(text, { limit: 10, measure: measures.codepoints })[0]).toBe("😀".repeat(10));
    expect(markdownOf(text, { limit: 10, measure: measures.bytes })[0]).toBe("😀".repeat(2));
  });

  test("counts what it becomes, not what it is", () => {
    for (const text of [
      "&".repeat(9_000),
      "<b> ".repeat(3_000),
      "**a** ".repeat(2_000),
      "`a` ".repeat(3_000),
    ]) {
      expectAll(text, telegram);
      const visible = splitMarkdown(text, telegram)
        .map((piece) => checkedText(piece.text))
        .join("");
      expect(visible.replace(/\s/g, "")).toBe(
        plainText(text.slice(0, 60))
          .replace(/\s/g, "")
          .repeat(text.length / 60),
      );
    }
  });

  test("strips what no platform takes, and takes every end of a line for one", () => {
    expect(markdownOf("a\0b\u001b[31mc\r\nd\re\ud800", small)).toEqual(["abc\nd\ne\ufffd"]);
  });

  test.each([
    ["words", "word "],
    ["one word", "x"],
    ["Chinese", "中"],
    ["emoji", "👨‍👩‍👧"],
    ["marks", "*a "],
    ["brackets", "["],
    ["quotes", "> "],
    ["backticks", "`"],
    ["fences", "```\n"],
    ["combining marks", "\u0301"],
    ["signs of markup", "&"],
    ["table rows", "| a | b |\n"],
    ["empty lines", "\n"],
    ["spaces", " "],
  ])("splits a long text of %s in no long time", (_, text) => {
    const began = performance.now();
    splitMarkdown(text.repeat(250_000 / text.length), telegram);
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  const units = fc.constantFrom(measures.utf16, measures.codepoints, measures.bytes);

  test("gives every letter once and in order, in pieces that fit, whatever the text", () => {
    fc.assert(
      fc.property(markdownish, units, fc.integer({ min: 120, max: 400 }), (text, measure, limit) => {
        const options = { limit, measure };
        expectAll(text, options);
        // An info string is said again with every piece of its code.
        const source = text.toWellFormed().replace(/\0|\u001b\[31m/g, "");
        const pieces = markdownOf(source.replaceAll("```js", "```"), options);
        const clean = splitMarkdown(source.replaceAll("```js", "```"), { limit: 1e9, measure });
        expect(letters(pieces.join("\n"))).toBe(letters(clean[0]?.markdown ?? ""));
      }),
      { numRuns: 500 },
    );
  });

  test("gives pieces that are right and fit when rendered, whatever the text", () => {
    fc.assert(
      fc.property(markdownish, units, fc.integer({ min: 150, max: 400 }), (text, measure, limit) => {
        expectAll(text, { limit, measure, render });
        for (const { markdown } of splitMarkdown(text, { limit, measure, render })) {
          expect(measure(plainText(markdown))).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 400 },
    );
  });

  test("shows every letter that the whole text shows, once and in order", () => {
    const visible = fc
      .array(
        fc.constantFrom(
          "wörd",
          "x",
          "中文",
          " ",
          " ",
          "\n",
          "\n\n",
          "**",
          "*",
          "`",
          "\n- ",
          "\n> ",
          "\n# ",
          "<",
          "&",
          "~~",
        ),
        { maxLength: 150 },
      )
      .map((parts) => parts.join(""))
      // What names the language of code is not shown.
      .filter((text) => !/`{3}|~{3}/.test(text));
    fc.assert(
      fc.property(visible, fc.integer({ min: 100, max: 300 }), (text, limit) => {
        const pieces = splitMarkdown(text, { limit, measure: measures.utf16, render });
        expect(letters(pieces.map((piece) => checkedText(piece.text)).join(""))).toBe(letters(text));
      }),
      { numRuns: 500 },
    );
  });
});

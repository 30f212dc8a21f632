import { expect, test } from "bun:test";
import { escapeMarkdown } from "../../src/lib/escape-markdown.ts";
import { createPlainText } from "../../src/lib/markdown/plain-text.ts";

test.each(["[Approve](https://evil.example)", "**bold** _it_ ~~no~~ `code`", "<b>&amp;</b> ||x||", "a\\*b"])(
  "escapeMarkdown() leaves %j as it is for whoever reads it",
  async (text) => {
    const plain = await createPlainText();
    expect(plain(escapeMarkdown(text))).toBe(text);
  },
);

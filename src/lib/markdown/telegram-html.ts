/** Markdown as the HTML that Telegram takes, nested right whatever comes in. */

import { createMarkdownParser } from "./parser.ts";
import { alignedTable } from "./table.ts";
import { type Ink, plainInk, type Style, writeMarkdown } from "./writer.ts";

const tags: Readonly<Record<Style, string>> = {
  bold: "b",
  italic: "i",
  strike: "s",
  spoiler: "tg-spoiler",
};

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (character) => escapes[character] ?? character);
}

function escapeAttribute(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
}

/** Telegram takes nothing but the text of a link with any other scheme. */
const LINKABLE = /^(?:https?:\/\/|tg:\/\/|mailto:)./i;

const ink: Ink = {
  text: escapeText,
  styled: (inner, style) => `<${tags[style]}>${inner}</${tags[style]}>`,
  code: (text) => `<code>${escapeText(text)}</code>`,
  codeBlock(text, language) {
    const code = escapeText(text);
    return language === undefined
      ? `<pre>${code}</pre>`
      : `<pre><code class="language-${escapeAttribute(language)}">${code}</code></pre>`;
  },
  link(inner, address) {
    if (!LINKABLE.test(address)) return plainInk.link(inner, escapeText(address));
    return `<a href="${escapeAttribute(address.replace(/\s/g, encodeURIComponent))}">${inner}</a>`;
  },
  quote: (inner) => `<blockquote>${inner}</blockquote>`,
  table: (rows) => `<pre>${escapeText(alignedTable(rows))}</pre>`,
};

export async function createTelegramRenderer(): Promise<(markdown: string) => string> {
  const parse = await createMarkdownParser();
  return (markdown) => writeMarkdown(parse, ink, markdown);
}

/** Text from a search engine as one line for a model to read: no markup, nothing invisible. */

import { clip, head, wellFormed } from "../text.ts";
import { stripInvisible } from "../visible-characters.ts";

/** Elements of HTML, so that `Vec<String>` and `#include <vector>` in plain text stay what they are. */
const INLINE = "a|abbr|b|bdi|bdo|code|em|font|i|img|ins|del|kbd|mark|q|s|small|span|strong|sub|sup|u|wbr";
const BLOCK = "blockquote|br|dd|div|dt|h[1-6]|hr|iframe|li|ol|p|pre|script|style|svg|table|td|th|tr|ul";
const INLINE_TAG = new RegExp(`</?(?:${INLINE})(?:[\\s/][^<>]*)?>`, "gi");
const BLOCK_TAG = new RegExp(`</?(?:${BLOCK})(?:[\\s/][^<>]*)?>`, "gi");

const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g;
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  bull: "•",
  copy: "©",
  deg: "°",
  euro: "€",
  gt: ">",
  hellip: "…",
  laquo: "«",
  ldquo: "“",
  lsquo: "‘",
  lt: "<",
  mdash: "—",
  middot: "·",
  nbsp: " ",
  ndash: "–",
  quot: '"',
  raquo: "»",
  rdquo: "”",
  reg: "®",
  rsquo: "’",
  times: "×",
  trade: "™",
};

/** The entities that search engines write; any other stays as it is. */
export function decodeEntities(text: string): string {
  return text.replace(ENTITY, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "\ufffd";
  });
}

/** Empty for anything but text. */
export function plainText(value: unknown, most: number): string {
  if (typeof value !== "string") return "";
  const text = head(value, most * 8)
    .replace(INLINE_TAG, "")
    .replace(BLOCK_TAG, " ");
  const seen = stripInvisible(wellFormed(decodeEntities(text))).replace(/\s+/g, " ");
  return clip(seen.trim(), most);
}

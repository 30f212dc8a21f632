/** Text from a search engine as one line for a model to read: no markup, nothing invisible. */

import { decodeEntities, XML_ENTITIES } from "../../lib/entities.ts";
import { clip, head, wellFormed } from "../../lib/text.ts";
import { stripInvisible } from "../../lib/visible-characters.ts";

/** Elements of HTML, so that `Vec<String>` and `#include <vector>` in plain text stay what they are. */
const INLINE = "a|abbr|b|bdi|bdo|code|em|font|i|img|ins|del|kbd|mark|q|s|small|span|strong|sub|sup|u|wbr";
const BLOCK = "blockquote|br|dd|div|dt|h[1-6]|hr|iframe|li|ol|p|pre|script|style|svg|table|td|th|tr|ul";
const INLINE_TAG = new RegExp(`</?(?:${INLINE})(?:[\\s/][^<>]*)?>`, "gi");
const BLOCK_TAG = new RegExp(`</?(?:${BLOCK})(?:[\\s/][^<>]*)?>`, "gi");

/** Beside those of XML, the ones that search engines write. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ...XML_ENTITIES,
  ["&bull;", "•"],
  ["&copy;", "©"],
  ["&deg;", "°"],
  ["&euro;", "€"],
  ["&hellip;", "…"],
  ["&laquo;", "«"],
  ["&ldquo;", "“"],
  ["&lsquo;", "‘"],
  ["&mdash;", "—"],
  ["&middot;", "·"],
  ["&nbsp;", " "],
  ["&ndash;", "–"],
  ["&raquo;", "»"],
  ["&rdquo;", "”"],
  ["&reg;", "®"],
  ["&rsquo;", "’"],
  ["&times;", "×"],
  ["&trade;", "™"],
]);

export function decodeNames(text: string): string {
  return decodeEntities(text, (entity) => NAMES.get(entity));
}

/** Empty for anything but text. */
export function plainText(value: unknown, most: number): string {
  if (typeof value !== "string") return "";
  const text = head(value, most * 8)
    .replace(INLINE_TAG, "")
    .replace(BLOCK_TAG, " ");
  const seen = stripInvisible(wellFormed(decodeNames(text))).replace(/\s+/g, " ");
  return clip(seen.trim(), most);
}

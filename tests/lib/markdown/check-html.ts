/** Telegram's rules for HTML, strictly: which tags, nested how, and everything else escaped. */

import { decodeEntities, XML_ENTITIES } from "../../../src/lib/entities.ts";

const STYLES: ReadonlySet<string> = new Set(["b", "i", "u", "s", "tg-spoiler"]);
const TOKEN = /<(\/?)([a-z-]+)((?: [a-z-]+="[^"<>]*")*)>|&(?:amp|lt|gt|quot);|[^<>&]+/gy;

function mayOpen(tag: string, attributes: string, open: readonly string[]): boolean {
  const parent = open.at(-1);
  if (parent === "pre") return tag === "code" && /^ class="language-[^"\s]+"$/.test(attributes);
  if (parent === "code") return false;
  if (tag === "a")
    return !open.includes("a") && /^ href="(?:https?:\/\/|tg:\/\/|mailto:)[^"\s]+"$/.test(attributes);
  if (attributes !== "") return false;
  if (STYLES.has(tag) || tag === "blockquote") return !open.includes(tag);
  if (tag === "code") return !open.includes("a");
  return tag === "pre" && open.every((name) => name === "blockquote");
}

/** What the reader sees. Throws when Telegram would refuse the text. */
export function checkedText(html: string): string {
  const open: string[] = [];
  let text = "";
  let at = 0;
  const refuse = (why: string): never => {
    throw new Error(`${why} at ${at}: ${JSON.stringify(html.slice(Math.max(0, at - 40), at + 40))}`);
  };
  if (!html.isWellFormed()) refuse("Lone surrogate");
  for (const { 0: token, 1: slash, 2: tag, 3: attributes = "", index } of html.matchAll(TOKEN)) {
    if (index !== at) refuse("Unescaped");
    at += token.length;
    if (tag === undefined) {
      text += token.startsWith("&") ? decodeEntities(token, (entity) => XML_ENTITIES.get(entity)) : token;
    } else if (slash === "/") {
      if (open.pop() !== tag || attributes !== "") refuse(`Wrong </${tag}>`);
    } else {
      if (!mayOpen(tag, attributes, open)) refuse(`Wrong <${tag}${attributes}>`);
      open.push(tag);
    }
  }
  if (at !== html.length) refuse("Unescaped");
  if (open.length > 0) refuse(`Open <${open.at(-1)}>`);
  return text;
}

/** What the answer of a web server is, by its bytes first and then by what the server calls it. */

import { Buffer } from "node:buffer";
import type { Image } from "../core/model.ts";
import { declaredCharset, decodeText, utf16Of } from "../lib/charset.ts";
import { imageDefect } from "../lib/image-defect.ts";
import { imageType, mediaType } from "../lib/image-type.ts";

export type WebContent =
  | { readonly kind: "html" | "json" | "text" | "pdf" }
  | { readonly kind: "image"; readonly mime: Image["mime"] }
  /** `type` is for people. */
  | { readonly kind: "binary"; readonly type: string };

/** Text by another name than `text/…`. */
const TEXTUAL =
  /^text\/|[/+]xml$|^application\/(?:(?:x-)?javascript|ecmascript|(?:x-)?yaml|toml|sql|graphql|x-sh|(?:x-)?ndjson|x-www-form-urlencoded|rtf|mbox)$/;
/** Names for whatever it is, and those of what a page in its place cannot be. */
const ANYTHING = /^(?:application\/(?:octet-stream|unknown|x-unknown)|unknown\/unknown)?$/;
const NO_TEXT = /^(?:image|audio|video|font)\//;
/** How a page begins that nobody calls one, behind comments and what XML has at its beginning. */
const PAGE =
  /^(?:\s|<!--(?:(?!-->).)*-->|<\?xml[^>]*>)*<(?:!doctype html|html|head|body|title|meta|script|style|iframe|div|table|h1|p|br|a|b)[\s/>]/is;
const PAGE_CHARS = 2_048;
/** No text in any encoding has them, but for those of two bytes and more that say so with their first. */
const NO_CHARACTER = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/;
/** Of what has no name of its own, so much tells what it is. */
const PROBE_BYTES = 65_536;

export function contentOf(body: Uint8Array, contentType: string): WebContent {
  const mime = imageType(body);
  if (mime !== undefined) {
    const defect = imageDefect(body, mime);
    return defect === undefined
      ? { kind: "image", mime }
      : { kind: "binary", type: `${mime}, but ${defect}` };
  }
  const probe = wholeCharacters(body.subarray(0, PROBE_BYTES));
  const found = mediaType(probe);
  if (found === "application/pdf") return { kind: "pdf" };

  // Some send it twice, which comes as a list.
  const declared = (contentType.split(/[;,]/)[0] ?? "").trim().toLowerCase();
  const isHtml = /^(?:text\/html|application\/xhtml\+xml)$/.test(declared);
  const isJson = /[/+]json$/.test(declared);
  if (isHtml || isJson || TEXTUAL.test(declared)) {
    if (isText(probe, found, contentType)) return { kind: isHtml ? "html" : isJson ? "json" : "text" };
    return { kind: "binary", type: found === "application/octet-stream" ? `${declared}, but binary` : found };
  }
  const isAnything = ANYTHING.test(declared);
  if (found !== "text/plain" && !(isAnything && found === "application/octet-stream" && looksLikeText(probe)))
    return { kind: "binary", type: isAnything ? found : declared };
  const start = decodeText(probe.subarray(0, PAGE_CHARS), "", { markup: true });
  const isPage = (isAnything || NO_TEXT.test(declared)) && PAGE.test(start);
  return { kind: isPage ? "html" : "text" };
}

function looksLikeText(probe: Uint8Array): boolean {
  return utf16Of(probe) !== undefined || !NO_CHARACTER.test(Buffer.from(probe).toString("latin1"));
}

/** Servers call files text that are none, and text in older encodings is no UTF-8. */
function isText(probe: Uint8Array, found: string, contentType: string): boolean {
  if (found !== "text/plain" && found !== "application/octet-stream") return false;
  if (!probe.includes(0) || utf16Of(probe) !== undefined) return true;
  return /^(?:utf-?16|utf-?32|ucs-?2|unicode)/i.test(declaredCharset(contentType) ?? "");
}

/** Without a character of UTF-8 at the end that is cut off. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 3 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  return ((bytes[end - 1] ?? 0) & 0xc0) === 0xc0 ? bytes.subarray(0, end - 1) : bytes;
}

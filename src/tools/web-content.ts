/** What the answer of a web server is, by its bytes first and then by what the server calls it. */

import type { Image } from "../core/model.ts";
import { declaredCharset } from "../lib/charset.ts";
import { imageType, mediaType } from "../lib/image-type.ts";

export type WebContent =
  | { readonly kind: "html" | "json" | "text" | "pdf" }
  | { readonly kind: "image"; readonly mime: Image["mime"] }
  /** `type` is for people. */
  | { readonly kind: "binary"; readonly type: string };

/** Text by another name than `text/…`. */
const TEXTUAL =
  /^text\/|[/+]xml$|^application\/(?:(?:x-)?javascript|ecmascript|(?:x-)?yaml|toml|sql|graphql|x-sh|(?:x-)?ndjson|x-www-form-urlencoded|rtf|mbox)$/;
/** Names for whatever it is. */
const ANYTHING = /^(?:application\/(?:octet-stream|unknown|x-unknown)|unknown\/unknown)?$/;
/** Of what has no name of its own, so much tells what it is. */
const PROBE_BYTES = 65_536;

export function contentOf(body: Uint8Array, contentType: string): WebContent {
  const mime = imageType(body);
  if (mime !== undefined) return { kind: "image", mime };
  const probe = wholeCharacters(body.subarray(0, PROBE_BYTES));
  const found = mediaType(probe);
  if (found === "application/pdf") return { kind: "pdf" };

  const declared = (contentType.split(";")[0] ?? "").trim().toLowerCase();
  const isHtml = /^(?:text\/html|application\/xhtml\+xml)$/.test(declared);
  const isJson = /[/+]json$/.test(declared);
  if (isHtml || isJson || TEXTUAL.test(declared)) {
    if (isText(probe, found, contentType)) return { kind: isHtml ? "html" : isJson ? "json" : "text" };
    return { kind: "binary", type: found === "application/octet-stream" ? `${declared}, but binary` : found };
  }
  if (found !== "text/plain") return { kind: "binary", type: ANYTHING.test(declared) ? found : declared };
  const start = new TextDecoder().decode(probe.subarray(0, 512)).trimStart();
  const isPage = ANYTHING.test(declared) && /^<(?:!doctype html|html|head|body)\b/i.test(start);
  return { kind: isPage ? "html" : "text" };
}

/** Servers call files text that are none, and text in older encodings is no UTF-8. */
function isText(probe: Uint8Array, found: string, contentType: string): boolean {
  if (found !== "text/plain" && found !== "application/octet-stream") return false;
  if (!probe.includes(0)) return true;
  const isMarked = (probe[0] === 0xff && probe[1] === 0xfe) || (probe[0] === 0xfe && probe[1] === 0xff);
  return isMarked || /^(?:utf-?16|utf-?32|ucs-?2|unicode)/i.test(declaredCharset(contentType) ?? "");
}

/** Without a character of UTF-8 at the end that is cut off. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 3 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  return ((bytes[end - 1] ?? 0) & 0xc0) === 0xc0 ? bytes.subarray(0, end - 1) : bytes;
}

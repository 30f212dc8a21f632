/** Turns the bytes of a page or file from the web into text, in the encoding that it says it is in. */

import { Buffer } from "node:buffer";

/** Where a page must say what it is in. */
const PROLOGUE_BYTES = 4_096;

const UTF8_MARK = [0xef, 0xbb, 0xbf];

/** By the byte order mark that bytes begin with, if it is one of UTF-16. */
export function utf16Of([first, second]: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/**
 * What the first bytes say counts most, then `contentType`, then the page itself where it is `markup`. A name
 * that nobody knows counts as none, and then it is UTF-8.
 */
export function decodeText(bytes: Uint8Array, contentType: string, { markup }: { markup: boolean }): string {
  const marked = UTF8_MARK.every((byte, index) => bytes[index] === byte) ? "utf-8" : utf16Of(bytes);
  const decoder =
    decoderFor(marked) ??
    decoderFor(declaredCharset(contentType)) ??
    decoderFor(markup ? charsetInside(bytes) : undefined) ??
    new TextDecoder();
  return decoder.decode(bytes);
}

/** As `text/html; charset=x` says it. */
export function declaredCharset(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*["']?\s*([^\s;"',]+)/i.exec(contentType)?.[1];
}

function charsetInside(bytes: Uint8Array): string | undefined {
  const prologue = Buffer.from(bytes.subarray(0, PROLOGUE_BYTES))
    .toString("latin1")
    .replace(/<!--.*?(?:-->|$)/gs, "");
  const stated =
    /^\s*<\?xml[^>]*?\bencoding\s*=\s*["']([\w:.-]+)/i.exec(prologue)?.[1] ??
    /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w:.-]+)/i.exec(prologue)?.[1];
  // Whoever could read this in bytes knows that it is not UTF-16.
  return stated !== undefined && /^utf-?16/i.test(stated) ? "utf-8" : stated;
}

function decoderFor(label: string | undefined): TextDecoder | undefined {
  if (label === undefined) return undefined;
  try {
    // The types know of three; the standard has forty, under two hundred names.
    return new TextDecoder(label as ConstructorParameters<typeof TextDecoder>[0]);
  } catch {
    // The only reason is that there is no encoding of that name, which is what the caller wants to know.
    return undefined;
  }
}

/** Turns the bytes of a page or file from the web into text, in the encoding that it says it is in. */

import { Buffer } from "node:buffer";

/** Where a page must say what it is in. */
const PROLOGUE_BYTES = 4_096;

const marks: readonly (readonly [label: string, mark: readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16be", [0xfe, 0xff]],
  ["utf-16le", [0xff, 0xfe]],
];

/**
 * What the first bytes say counts most, then `contentType`, then the page itself where it is `markup`. A name
 * that nobody knows counts as none, and then it is UTF-8.
 */
export function decodeText(bytes: Uint8Array, contentType: string, { markup }: { markup: boolean }): string {
  const marked = marks.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0];
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

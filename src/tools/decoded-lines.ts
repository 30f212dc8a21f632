/** Bytes as text, in pieces that end between characters and never between the two of a line's end. */

import { Buffer } from "node:buffer";
import { utf16Of } from "../lib/charset.ts";
import type { LineMatcher } from "../lib/regex/automaton.ts";

export interface SearchPattern {
  readonly matcher: LineMatcher;
  /** Is in every line that matches, exactly so. `undefined` when nothing is known to be. */
  readonly literal: string | undefined;
  /** Every line that holds `literal` matches. */
  readonly isLiteral: boolean;
  /** Where the next line that may match is, or somewhere in it; -1 when there is none. */
  readonly find: ((text: string, from: number) => number) | undefined;
}

export interface Piece {
  readonly text: string;
  /** Zero bytes were in it: this is no text. */
  readonly isBinary: boolean;
}

/** The same bytes, the first piece long enough to tell what they are. */
async function* withBeginning(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let beginning: Uint8Array = new Uint8Array();
  for await (const chunk of chunks) {
    if (beginning.length >= 2) {
      yield chunk;
      continue;
    }
    beginning = beginning.length === 0 ? chunk : Buffer.concat([beginning, chunk]);
    if (beginning.length >= 2) yield beginning;
  }
  if (beginning.length === 1) yield beginning;
}

/**
 * Without its byte order mark; a text that has none is taken for UTF-8. What is neither UTF-8 nor UTF-16 with
 * a mark becomes U+FFFD.
 */
export async function* decodePieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  let decoder: TextDecoder | undefined;
  let isUtf8 = true;
  let held = "";
  for await (const chunk of withBeginning(chunks)) {
    if (decoder === undefined) {
      const utf16 = utf16Of(chunk);
      isUtf8 = utf16 === undefined;
      decoder = new TextDecoder(utf16);
    }
    const text = held + decoder.decode(chunk, { stream: true });
    // What it belongs to is known when the next piece is here.
    held = text.endsWith("\r") ? "\r" : "";
    const whole = held === "" ? text : text.slice(0, -1);
    yield { text: whole, isBinary: isUtf8 ? chunk.includes(0) : whole.includes("\0") };
  }
  const rest = decoder?.decode() ?? "";
  if (rest !== "") yield { text: held + rest, isBinary: false };
}

/** A part of a text that takes no long time, and does not end inside a character. */
export function sliceEnd(text: string, from: number, to: number): number {
  const end = from + 32_768;
  if (end >= to) return to;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}

/** Bytes as text, in pieces that end between characters and never between the two of a line's end. */

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

/** Without a byte order mark. What is no UTF-8 becomes U+FFFD. */
export async function* decodePieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of chunks) {
    const text = held + decoder.decode(chunk, { stream: true });
    // What it belongs to is known when the next piece is here.
    held = text.endsWith("\r") ? "\r" : "";
    yield { text: held === "" ? text : text.slice(0, -1), isBinary: chunk.includes(0) };
  }
  const rest = decoder.decode();
  if (rest !== "") yield { text: held + rest, isBinary: false };
}

/** A part of a text that takes no long time, and does not end inside a character. */
export function sliceEnd(text: string, from: number, to: number): number {
  const end = from + 32_768;
  if (end >= to) return to;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}

/** Counts the lines of a stream of bytes that match, as fast as can be: most lines are never looked at one by one. */

import type { Breather } from "../lib/breather.ts";
import { decodePieces, type SearchPattern, sliceEnd } from "./decoded-lines.ts";

/** What a match costs however short the line, as reading characters goes, and what a character that is passed over does. */
const UNITS_A_MATCH = 100;
const UNITS_PASSED_OVER = 1 / 8;
/** Work that is not worth asking for a breath. */
const UNITS_UNASKED = 20_000;

export interface CountOptions {
  readonly pattern: SearchPattern;
  /** Counting ends there, or at the first match of what is no text. */
  readonly most: number;
  readonly breather: Breather;
}

export async function countLines(
  chunks: AsyncIterable<Uint8Array>,
  { pattern: { matcher, find, isLiteral }, most, breather }: CountOptions,
): Promise<{ count: number; isBinary: boolean }> {
  let count = 0;
  let isBinary = false;
  let state = matcher.start;
  /** Nothing of the line was read yet. */
  let isAtLineStart = true;
  /** The line is counted, and the rest of it does not matter. */
  let isCounted = false;
  /** Done since the breather was last asked. */
  let units = 0;
  const isEnough = () => count >= (isBinary ? 1 : most);

  /** Returns how far it came: to the end, to a match, or as far as is good in one go. */
  function read(text: string, from: number): number {
    let [begin, to] = [from, text.length];
    if (isAtLineStart && find !== undefined) {
      const found = find(text, from);
      // The last line may go on in the next piece, so that it has to be read even if nothing is found in it.
      begin = Math.max(from, text.lastIndexOf("\n", found < 0 ? text.length : found) + 1);
      units += (begin - from) * UNITS_PASSED_OVER;
      if (found >= 0 && isLiteral) return countAt(found);
      to = found < 0 ? text.length : endOfLine(text, found);
      if (begin === text.length) return begin;
    }
    const advance = matcher.advance(state, text, begin, sliceEnd(text, begin, to));
    state = advance.state;
    units += advance.units;
    if (advance.isMatch) return countAt(advance.at);
    isAtLineStart = advance.at > begin ? text.charCodeAt(advance.at - 1) === 0x0a : isAtLineStart;
    return advance.at;
  }

  function countAt(at: number): number {
    count++;
    isCounted = true;
    units += UNITS_A_MATCH;
    return at;
  }

  /** Returns whether to go on. */
  async function readPiece(text: string): Promise<boolean> {
    units += text.length * UNITS_PASSED_OVER;
    for (let at = 0; at < text.length; ) {
      if (isCounted) {
        at = endOfLine(text, at);
        isCounted = text.charCodeAt(at - 1) !== 0x0a;
        if (isCounted) break;
        state = matcher.start;
        isAtLineStart = true;
        continue;
      }
      at = read(text, at);
      if (isCounted && isEnough()) return false;
      if (units < UNITS_UNASKED) continue;
      await breather.take(units);
      units = 0;
    }
    return true;
  }

  for await (const piece of decodePieces(chunks)) {
    isBinary ||= piece.isBinary;
    if (count > 0 && isEnough()) return { count, isBinary };
    if (!(await readPiece(piece.text))) return { count, isBinary };
  }
  if (!isAtLineStart && !isCounted && matcher.finish(state)) count++;
  return { count, isBinary };
}

/** Behind the newline. */
function endOfLine(text: string, at: number): number {
  const newline = text.indexOf("\n", at);
  return newline < 0 ? text.length : newline + 1;
}

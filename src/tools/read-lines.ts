/** Goes through the lines of a stream of bytes and says which match, in memory that grows with neither. */

import type { Breather } from "../lib/breather.ts";
import { head } from "../lib/text.ts";
import { decodePieces, type SearchPattern, sliceEnd } from "./decoded-lines.ts";

/** Of a long line, from its beginning, and from around the match where that is not in the beginning. */
const KEPT_CHARS = 1_000;
const KEPT_AROUND = 200;
/** What a line costs however short it is, as reading characters goes. */
const UNITS_A_LINE = 150;
/** Work that is not worth asking for a breath. */
const UNITS_UNASKED = 20_000;

export interface ReadLine {
  /** From 1. */
  readonly number: number;
  readonly isMatch: boolean;
  /** Without its end, and not all of it when it is long. */
  readonly text: string;
}

export interface ReadOptions {
  readonly pattern: SearchPattern;
  readonly breather: Breather;
  /** Returns whether to go on. */
  readonly onLine: (line: ReadLine) => boolean;
}

export async function readLines(
  chunks: AsyncIterable<Uint8Array>,
  { pattern: { matcher }, breather, onLine }: ReadOptions,
): Promise<void> {
  let number = 1;
  let state = matcher.start;
  let isMatch = false;
  let length = 0;
  let kept = "";
  let around = "";
  /** Something of the line was there, be it nothing but its beginning. */
  let isInLine = false;

  /** Done since the breather was last asked. */
  let units = 0;

  /** Where the reading stopped: at `to`, or before, to be taken up again after a breath. */
  function read(text: string, from: number, to: number): number {
    const advance = matcher.advance(state, text, from, sliceEnd(text, from, to));
    units += advance.units;
    state = advance.state;
    isMatch = advance.isMatch;
    return isMatch ? keepAround(text, advance.at, to) : advance.at;
  }

  async function rest(): Promise<void> {
    await breather.take(units);
    units = 0;
  }

  function keepAround(text: string, at: number, to: number): number {
    const start = Math.max(text.lastIndexOf("\n", at - 1) + 1, at - KEPT_AROUND);
    around = text.slice(start, Math.min(to, at + KEPT_AROUND)).toWellFormed();
    return to;
  }

  function keep(text: string, from: number, to: number): void {
    // One more than is shown, so that a cut is never made inside a character here.
    const room = KEPT_CHARS + 1 - kept.length;
    if (room > 0) kept += text.slice(from, Math.min(to, from + room));
    length += to - from;
  }

  /** Returns whether to go on. */
  function finishLine(): boolean {
    const text = length > KEPT_CHARS ? shorten(kept, around, length) : kept;
    const line = { number: number++, isMatch: isMatch || matcher.finish(state), text };
    state = matcher.start;
    isMatch = isInLine = false;
    kept = around = "";
    length = 0;
    return onLine(line);
  }

  for await (const { text } of decodePieces(chunks)) {
    for (let from = 0; from < text.length; ) {
      const newline = text.indexOf("\n", from);
      const end = newline < 0 ? text.length : newline;
      const to = newline > from && text.charCodeAt(newline - 1) === 0x0d ? newline - 1 : end;
      for (let at = isMatch ? to : read(text, from, to); at < to; at = read(text, at, to)) await rest();
      keep(text, from, to);
      isInLine = true;
      if (newline < 0) break;
      if (!finishLine()) return;
      units += UNITS_A_LINE;
      if (units > UNITS_UNASKED) await rest();
      from = newline + 1;
    }
  }
  if (isInLine) finishLine();
}

function shorten(kept: string, around: string, length: number): string {
  const beginning = head(kept, KEPT_CHARS);
  const middle = around === "" || beginning.includes(around) ? "" : `… ${around} `;
  return `${beginning} ${middle}… (line of ${length} characters)`;
}

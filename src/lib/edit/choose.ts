/** Which of the places where a passage stands are meant. */

import type { FindOptions, Found, Passage } from "./find.ts";

export interface Choice {
  /** Every place, those that overlap an earlier one aside. */
  readonly all?: boolean | undefined;
  /** From 1. */
  readonly occurrence?: number | undefined;
  /** A line, from 1, that lies in the passage. */
  readonly lineHint?: number | undefined;
  /** How many places there must be to change. */
  readonly expected?: number | undefined;
}

/** Each with how often the passage was found and at which lines, the first few. */
export interface NotChosen {
  readonly kind: "ambiguous" | "tooFew" | "notAtLine" | "unexpectedCount" | "tooMany";
  readonly count: number;
  /** There may be others; counting them all would not change the answer. */
  readonly more: boolean;
  readonly lines: readonly number[];
}

export type Chosen = { readonly kind: "chosen"; readonly places: readonly Place[] } | NotChosen;

/** A passage and the lines, from 1, that it covers. */
interface Place extends Passage {
  readonly firstLine: number;
  readonly lastLine: number;
}

const MOST_COUNTED = 1_000;
/** Where places are picked out of many. */
const MOST_REPLACED = 100_000;
export const LINES_NAMED = 3;

/** What must be looked for to be able to choose. */
export function searchFor({ all, occurrence, lineHint }: Choice): FindOptions {
  const isPicked = all || occurrence !== undefined || lineHint !== undefined;
  return { most: isPicked ? MOST_REPLACED + 1 : MOST_COUNTED, apart: all };
}

export function choosePlaces(text: string, { passages, more }: Omit<Found, "kind">, choice: Choice): Chosen {
  const places = locate(text, passages);
  const refuse = (kind: NotChosen["kind"], of: readonly Place[] = places): NotChosen => ({
    kind,
    count: of.length,
    more,
    lines: of.slice(0, LINES_NAMED).map(({ firstLine }) => firstLine),
  });
  const { all, occurrence, lineHint, expected } = choice;
  if (all && more) return refuse("tooMany");

  let left = places;
  if (occurrence !== undefined) {
    left = left.slice(occurrence - 1, occurrence);
    if (left.length === 0) return refuse("tooFew");
  }
  if (lineHint !== undefined) {
    left = left.filter(({ firstLine, lastLine }) => firstLine <= lineHint && lineHint <= lastLine);
    if (left.length === 0) return refuse("notAtLine");
  }
  const isCertain = all || occurrence !== undefined || (left.length === 1 && !more);
  if (!isCertain) return refuse("ambiguous", left);
  if (expected !== undefined && left.length !== expected) return refuse("unexpectedCount", left);
  return { kind: "chosen", places: left };
}

/** `passages` are in order, so that the lines are counted in one pass. */
function locate(text: string, passages: readonly Passage[]): readonly Place[] {
  let line = 1;
  let next = text.indexOf("\n");
  const lineOf = (index: number): number => {
    for (; next >= 0 && next < index; next = text.indexOf("\n", next + 1)) line++;
    return line;
  };
  const [first] = passages;
  // All have as many as the passage that was looked for. One at its end is still on its last line.
  const breaks = first === undefined ? 0 : text.slice(first.from, first.to - 1).split("\n").length - 1;
  return passages.map(({ from, to }) => {
    const firstLine = lineOf(from);
    return { from, to, firstLine, lastLine: firstLine + breaks };
  });
}

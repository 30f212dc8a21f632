/** Where a passage stands in a text: as it is written, or else as it was probably meant. */

import { straighten } from "./quotes.ts";

/** How a passage was found, strictest first. */
export type MatchKind = "exact" | "trimmed" | "trimmedQuotes" | "quotes";

/** Offsets into the text. */
export interface Passage {
  readonly from: number;
  readonly to: number;
}

export interface Found {
  readonly kind: MatchKind;
  /** In order. */
  readonly passages: readonly Passage[];
  /** The search was ended, and there may be others. */
  readonly more: boolean;
}

export interface FindOptions {
  /** The search ends when it has found so many. */
  readonly most: number;
  /** Without those that overlap an earlier one: `aa` stands twice in `aaa`, but can be replaced once. */
  readonly apart?: boolean | undefined;
  readonly exactly?: boolean | undefined;
}

type Search = Omit<Found, "kind">;

/** Lines that are compared in one search: in a file whose lines are all alike it would take for ever. */
const MOST_COMPARED = 2_000_000;

/**
 * `text` and `wanted` have LF only. Each way of looking is tried when the stricter ones found nothing; the
 * looser ones leave a byte order mark alone.
 */
export function findPassages(text: string, wanted: string, options: FindOptions): Found | undefined {
  if (wanted === "") return undefined;
  const as = (kind: MatchKind, search: Search) =>
    search.passages.length > 0 ? { kind, ...search } : undefined;
  const asWritten = as("exact", findSubstring(text, wanted, options));
  if (asWritten !== undefined || options.exactly) return asWritten;

  const trimmed = as("trimmed", findWindows(text, wanted, options));
  const straightText = straighten(text);
  const straightWanted = straighten(wanted);
  if (trimmed !== undefined || (straightText === text && straightWanted === wanted)) return trimmed;
  return (
    as("trimmedQuotes", findWindows(straightText, straightWanted, options)) ??
    as("quotes", findSubstring(straightText, straightWanted, options))
  );
}

function findSubstring(text: string, wanted: string, { most, apart }: FindOptions): Search {
  const passages: Passage[] = [];
  const step = apart ? wanted.length : 1;
  for (let from = text.indexOf(wanted); from >= 0; from = text.indexOf(wanted, from + step)) {
    if (passages.push({ from, to: from + wanted.length }) === most) return { passages, more: true };
  }
  return { passages, more: false };
}

/**
 * Whole lines that are the wanted ones but for white space at their ends. The text is not taken apart: the
 * longest wanted line is looked for in it, and what is around it is compared, so that a large file costs no
 * more memory than itself.
 */
function findWindows(text: string, wanted: string, { most, apart }: FindOptions): Search {
  const endsLine = wanted.endsWith("\n");
  const lines = (endsLine ? wanted.slice(0, -1) : wanted).split("\n").map((line) => line.trim());
  const anchor = lines.reduce(
    (best, line, index) => (line.length > (lines[best]?.length ?? 0) ? index : best),
    0,
  );
  const needle = lines[anchor] ?? "";
  // Nothing but blank lines is everywhere.
  if (needle === "") return { passages: [], more: false };
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const above = lines.slice(0, anchor).reverse();
  const below = lines.slice(anchor + 1);

  const passages: Passage[] = [];
  let compared = 0;
  const isLine = (from: number, to: number, line: string) => {
    compared++;
    return text.slice(from, to).trim() === line;
  };
  let end = 0;
  for (let at = text.indexOf(needle, start); at >= 0; ) {
    if (compared > MOST_COMPARED) return { passages, more: true };
    const lineStart = Math.max(start, text.lastIndexOf("\n", at) + 1);
    const lineEnd = endOfLine(text, at);
    if (isLine(lineStart, lineEnd, needle)) {
      const from = goUp(text, start, lineStart, above, isLine);
      const to = from === undefined ? undefined : goDown(text, lineEnd, below, isLine);
      if (from !== undefined && to !== undefined && (!apart || from >= end)) {
        end = endsLine && to < text.length ? to + 1 : to;
        if (passages.push({ from, to: end }) === most) return { passages, more: true };
      }
    }
    // A trimmed line can only stand once in a line.
    at = lineEnd < text.length ? text.indexOf(needle, lineEnd + 1) : -1;
  }
  return { passages, more: false };
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

type IsLine = (from: number, to: number, line: string) => boolean;

/** The start of the last of `lines`, when they stand, in this order, above the line that starts at `below`. */
function goUp(
  text: string,
  start: number,
  below: number,
  lines: readonly string[],
  isLine: IsLine,
): number | undefined {
  let from = below;
  for (const line of lines) {
    if (from === start) return undefined;
    const end = from - 1;
    from = end === 0 ? start : Math.max(start, text.lastIndexOf("\n", end - 1) + 1);
    if (!isLine(from, end, line)) return undefined;
  }
  return from;
}

/** The end of the last of `lines`, when they stand right below the line that ends at `above`. */
function goDown(text: string, above: number, lines: readonly string[], isLine: IsLine): number | undefined {
  let end = above;
  for (const line of lines) {
    if (end === text.length) return undefined;
    const from = end + 1;
    end = endOfLine(text, from);
    if (!isLine(from, end, line)) return undefined;
  }
  return end;
}

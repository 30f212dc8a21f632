/** The passage of a text that comes closest to one that is not in it, to show what was probably meant. */

import { clip } from "../lib/text.ts";

/** Bounds on the work and on what is shown. */
const LONGEST_TEXT = 1024 * 1024;
const MOST_LINES = 20_000;
const WINDOW_LINES = 40;
const SHOWN_LINES = 15;
const COMPARED_CHARS = 200;
const CANDIDATES = 5;
/** Below this the best passage is a coincidence. */
const LEAST_SIMILAR = 0.5;

export interface NearestPassage {
  /** `N| text` lines. */
  readonly lines: readonly string[];
  readonly firstLine: number;
  readonly difference: "white space" | "case" | undefined;
}

/** How many pairs of neighbouring letters two lines share, from 0 to 1 (Dice). White space at the ends does not count. */
function createSimilarity(line: string): (other: string) => number {
  const own = line.trim().slice(0, COMPARED_CHARS);
  const pairs = new Map<string, number>();
  for (let i = 0; i + 1 < own.length; i++) {
    const pair = own.slice(i, i + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return (other) => {
    const theirs = other.trim().slice(0, COMPARED_CHARS);
    if (own === theirs) return 1;
    if (own.length < 2 || theirs.length < 2) return 0;
    const left = new Map(pairs);
    let shared = 0;
    for (let i = 0; i + 1 < theirs.length; i++) {
      const pair = theirs.slice(i, i + 2);
      const count = left.get(pair) ?? 0;
      if (count > 0) {
        shared++;
        left.set(pair, count - 1);
      }
    }
    return (2 * shared) / (own.length + theirs.length - 2);
  };
}

/**
 * Only the windows around the lines most like the longest line of `wanted` are compared in full.
 * `undefined` when nothing comes close or `text` is too large for the search.
 */
export function findNearestPassage(text: string, wanted: string): NearestPassage | undefined {
  if (text.length > LONGEST_TEXT) return undefined;
  const lines = text.split(/\r?\n/);
  const wantedLines = wanted
    .replace(/\r?\n$/, "")
    .split(/\r?\n/)
    .slice(0, WINDOW_LINES);
  if (lines.length > MOST_LINES) return undefined;

  const longest = Math.max(...wantedLines.map((line) => line.trim().length));
  const anchor = wantedLines.findIndex((line) => line.trim().length === longest);
  const toAnchor = createSimilarity(wantedLines[anchor] ?? "");
  const starts = lines
    .map((line, index) => ({ start: Math.max(0, index - anchor), score: toAnchor(line) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, CANDIDATES);

  const similarities = wantedLines.map(createSimilarity);
  const scored = starts.map(({ start }) => {
    const scores = similarities.map((similarity, index) => similarity(lines[start + index] ?? ""));
    return { start, score: scores.reduce((sum, score) => sum + score, 0) / scores.length };
  });
  const best = scored.reduce((a, b) => (b.score > a.score ? b : a), { start: 0, score: 0 });
  if (best.score < LEAST_SIMILAR) return undefined;

  const passage = lines.slice(best.start, best.start + wantedLines.length);
  return {
    firstLine: best.start + 1,
    lines: passage
      .slice(0, SHOWN_LINES)
      .map((line, index) => `${best.start + index + 1}| ${clip(line, COMPARED_CHARS)}`),
    difference: differenceOf(passage.join("\n"), wantedLines.join("\n")),
  };
}

function differenceOf(passage: string, wanted: string): NearestPassage["difference"] {
  const squeeze = (text: string) => text.replace(/\s+/g, "");
  if (squeeze(passage) === squeeze(wanted)) return "white space";
  return passage.toLowerCase() === wanted.toLowerCase() ? "case" : undefined;
}

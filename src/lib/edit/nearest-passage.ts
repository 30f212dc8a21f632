/** The passage of a text that comes closest to one that is not in it, to show what was probably meant. */

import { clip } from "../text.ts";
import { findPassages } from "./find.ts";
import { type DiffLine, diffLines } from "./line-diff.ts";
import { toLf } from "./line-ends.ts";
import { straighten } from "./quotes.ts";

/** Bounds on the work and on what is shown. */
const LONGEST_TEXT = 1024 * 1024;
const MOST_LINES = 20_000;
const WINDOW_LINES = 40;
const SHOWN_LINES = 20;
const COMPARED_CHARS = 200;
const CANDIDATES = 5;
/** Up to this the best passage is a coincidence. */
const LEAST_SIMILAR = 0.5;

export interface NearestPassage {
  readonly firstLine: number;
  /** Above one half, up to 1. */
  readonly similarity: number;
  /** From what was looked for (`-`) to what is there (`+`), clipped. */
  readonly diff: readonly DiffLine[];
  /** All that differs, where that is something plain. */
  readonly differences: readonly Difference[];
}

type Difference = "case" | "white space" | "quotation marks";

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
  // What is blank is like any blank line.
  if (text.length > LONGEST_TEXT || wanted.trim() === "") return undefined;
  const lines = text.split(/\r?\n/);
  if (lines.length > MOST_LINES) return undefined;
  const wantedLines = toLf(wanted).replace(/\n$/, "").split("\n").slice(0, WINDOW_LINES);

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
  if (best.score <= LEAST_SIMILAR) return undefined;

  const passage = lines.slice(best.start, best.start + wantedLines.length);
  return {
    firstLine: best.start + 1,
    similarity: best.score,
    diff: diffLines(wantedLines, passage)
      .slice(0, SHOWN_LINES)
      .map(({ sign, line }) => ({ sign, line: clip(line, COMPARED_CHARS) })),
    differences: differencesOf(passage.join("\n"), wantedLines.join("\n")),
  };
}

const levellers: readonly (readonly [Difference, (text: string) => string])[] = [
  ["quotation marks", straighten],
  ["white space", (text) => text.replace(/\s+/g, "")],
  ["case", (text) => text.toLowerCase()],
];

/** Those that all must be levelled before the two are the same; none when even that is not enough. */
function differencesOf(passage: string, wanted: string): readonly Difference[] {
  const areSame = (without?: Difference) => {
    const level = (text: string) =>
      levellers.reduce(
        (levelled, [name, leveller]) => (name === without ? levelled : leveller(levelled)),
        text,
      );
    return level(passage) === level(wanted);
  };
  return areSame() ? levellers.map(([name]) => name).filter((name) => !areSame(name)) : [];
}

/** What keeps `wanted` from being found although the rest of it is there, as advice. */
export function whatIsInTheWay(
  text: string,
  wanted: string,
  { exactly }: { exactly: boolean },
): string | undefined {
  const plain = toLf(text);
  const isThere = (passage: string) =>
    passage !== "" && findPassages(plain, passage, { most: 1, exactly }) !== undefined;
  const given = toLf(wanted);
  const isNumbered = given
    .trimEnd()
    .split("\n")
    .every((line) => /^ *-?\d+\| ?/.test(line));
  if (isNumbered) return "leave out the line numbers that read_file shows";
  const unframed = given.replace(/^\n+/, "").replace(/\n+$/, "");
  if (unframed !== given && isThere(unframed)) {
    return "it is there without the newlines at the beginning or the end of old_text";
  }
  if (/\\[nt]/.test(given) && isThere(given.replaceAll("\\n", "\n").replaceAll("\\t", "\t"))) {
    return "it is there with real line ends and tabs in the place of the characters \\n and \\t";
  }
  return undefined;
}

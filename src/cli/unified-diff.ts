/** What changed between two texts, for people and for `patch`. */

import { type DiffLine, diffLines } from "../lib/edit/line-diff.ts";

const CONTEXT = 3;
/** Comparing takes the product of the lengths. Beyond this all of the lines that differ are shown as changed. */
const MOST_COMPARISONS = 4_000_000;

/** A line, and its number before and after the change, counted from 1. */
interface NumberedLine extends DiffLine {
  readonly before: number;
  readonly after: number;
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** What both have in common at either end needs no comparing. */
function compare(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const shorter = Math.min(before.length, after.length);
  let first = 0;
  while (first < shorter && before[first] === after[first]) first++;
  let last = 0;
  while (last < shorter - first && before.at(-1 - last) === after.at(-1 - last)) last++;
  const removed = before.slice(first, before.length - last);
  const added = after.slice(first, after.length - last);
  const changed =
    removed.length * added.length > MOST_COMPARISONS
      ? [...signed("-", removed), ...signed("+", added)]
      : diffLines(removed, added);
  return [
    ...signed(" ", before.slice(0, first)),
    ...changed,
    ...signed(" ", before.slice(before.length - last)),
  ];
}

function signed(sign: DiffLine["sign"], lines: readonly string[]): readonly DiffLine[] {
  return lines.map((line) => ({ sign, line }));
}

function numbered(lines: readonly DiffLine[]): readonly NumberedLine[] {
  let before = 1;
  let after = 1;
  return lines.map((line) => {
    const one = { ...line, before, after };
    if (line.sign !== "+") before++;
    if (line.sign !== "-") after++;
    return one;
  });
}

/** The lines near a change, those near each other together. */
function hunksOf(lines: readonly NumberedLine[]): readonly (readonly NumberedLine[])[] {
  const isShown = Array<boolean>(lines.length).fill(false);
  for (const [index, { sign }] of lines.entries()) {
    if (sign !== " ") isShown.fill(true, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  }
  const hunks: NumberedLine[][] = [];
  for (const [index, line] of lines.entries()) {
    if (isShown[index] !== true) continue;
    if (isShown[index - 1] === true) hunks.at(-1)?.push(line);
    else hunks.push([line]);
  }
  return hunks;
}

function range(start: number, count: number): string {
  // Of nothing, the line before it is named.
  return count === 1 ? `${start}` : `${count === 0 ? start - 1 : start},${count}`;
}

/** In the unified format, with a newline at the end; "" when both have the same lines. */
export function unifiedDiff(
  before: { readonly name: string; readonly text: string },
  after: { readonly name: string; readonly text: string },
): string {
  const hunks = hunksOf(numbered(compare(linesOf(before.text), linesOf(after.text))));
  if (hunks.length === 0) return "";
  const shown = hunks.flatMap((hunk) => {
    const old = hunk.filter(({ sign }) => sign !== "+").length;
    const now = hunk.filter(({ sign }) => sign !== "-").length;
    const [{ before: oldStart, after: nowStart } = { before: 0, after: 0 }] = hunk;
    return [
      `@@ -${range(oldStart, old)} +${range(nowStart, now)} @@`,
      ...hunk.map(({ sign, line }) => sign + line),
    ];
  });
  return `${[`--- ${before.name}`, `+++ ${after.name}`, ...shown].join("\n")}\n`;
}

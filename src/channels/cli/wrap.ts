/** Soft wrapping: one line as rows of terminal cells, never cut inside a grapheme. */

import { graphemes } from "./graphemes.ts";

/** A stretch of a text on one row. */
export interface Row {
  readonly start: number;
  readonly text: string;
  readonly cells: number;
}

/** A tab as spaces: where the next stop lies depends on the terminal. */
export function visible(grapheme: string): string {
  return grapheme === "\t" ? "  " : grapheme;
}

/** The rows of `line`, which begins at `start`. A grapheme wider than `cells` has a row of its own. */
export function* wrapLine(
  line: string,
  start: number,
  cells: number,
  width: (text: string) => number,
): Iterable<Row> {
  if (/^[ -~]*$/.test(line)) {
    for (let at = 0; at === 0 || at < line.length; at += cells) {
      const text = line.slice(at, at + cells);
      yield { start: start + at, text, cells: text.length };
    }
    return;
  }
  let row = { start, text: "", cells: 0 };
  let at = start;
  for (const grapheme of graphemes(line)) {
    const shown = visible(grapheme);
    const size = width(shown);
    if (row.cells + size > cells && row.text !== "") {
      yield row;
      row = { start: at, text: "", cells: 0 };
    }
    row = { start: row.start, text: row.text + shown, cells: row.cells + size };
    at += grapheme.length;
  }
  yield row;
}

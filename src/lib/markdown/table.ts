/** A table as lines of text whose columns stand below each other where all characters are equally wide. */

import { approximateWidth } from "../width.ts";

/** A cell wider than this sticks out of its column: it must not widen every other row. */
const WIDEST = 32;

type Row = readonly string[];

function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - approximateWidth(cell)));
}

/** `rows` begin with the header. */
export function alignedTable(rows: readonly Row[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 1, Math.min(WIDEST, approximateWidth(cell)));
    });
  }
  const [header = [], ...body] = rows;
  const line = (row: Row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0))
      .join(" | ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("-+-");
  return [line(header), rule, ...body.map(line)].join("\n");
}

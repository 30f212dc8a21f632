/** What was measured, beside its floor and its bound: judged, and as a table for people. */

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: "ms" | "µs" | "MB" | "lines" | "bytes" | "requests";
  /** What the least program that could do the same takes, in the same unit and the same run. */
  readonly floor?: number;
  readonly bound?: Bound;
  readonly note?: string;
}

/**
 * `ratio` is times the floor. `time` and `count` are in the row's unit; a time holds only on the machines it
 * was set for.
 */
type Bound = { readonly of: "ratio" | "time" | "count"; readonly atMost: number };

export interface JudgedRow extends Row {
  readonly ratio: number | undefined;
  readonly verdict: "ok" | "over" | "-";
}

/** Bounds of times are judged only when `timesHold`: on other machines they would say nothing of the program. */
export function judge(row: Row, { timesHold }: { timesHold: boolean }): JudgedRow {
  const ratio = row.floor === undefined ? undefined : row.value / row.floor;
  return { ...row, ratio, verdict: verdictOn(row.value, ratio, row.bound, timesHold) };
}

function verdictOn(
  value: number,
  ratio: number | undefined,
  bound: Bound | undefined,
  timesHold: boolean,
): JudgedRow["verdict"] {
  if (bound === undefined || (bound.of === "time" && !timesHold)) return "-";
  const judged = bound.of === "ratio" ? ratio : value;
  // A measurement that gave no number has not kept its bound.
  return judged !== undefined && judged <= bound.atMost ? "ok" : "over";
}

const HEADER = ["", "value", "floor", "ratio", "bound", "", ""];

export function formatTable(rows: readonly JudgedRow[]): string {
  const cells = [HEADER, ...rows.map(cellsOf)];
  const widths = HEADER.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  return cells
    .map((line) => `${line.map((cell, column) => pad(cell, column, widths)).join("  ")}`.trimEnd())
    .join("\n");
}

function cellsOf({
  name,
  value,
  unit,
  floor,
  ratio,
  bound,
  verdict,
  note = "",
}: JudgedRow): readonly string[] {
  return [
    name,
    withUnit(value, unit),
    floor === undefined ? "" : withUnit(floor, unit),
    ratio === undefined ? "" : ratio.toFixed(2),
    bound === undefined ? "" : bound.of === "ratio" ? `${bound.atMost} x` : withUnit(bound.atMost, unit),
    verdict,
    note,
  ];
}

function withUnit(value: number, unit: Row["unit"]): string {
  return unit === "lines" || unit === "bytes" || unit === "requests"
    ? value.toLocaleString("en")
    : `${value.toFixed(value < 10 ? 2 : 1)} ${unit}`;
}

/** Words to the left, numbers to the right. */
function pad(cell: string, column: number, widths: readonly number[]): string {
  const width = widths[column] ?? 0;
  return column >= 1 && column <= 4 ? cell.padStart(width) : cell.padEnd(width);
}

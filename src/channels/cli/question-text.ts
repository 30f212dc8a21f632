/** How a question to the owner looks: every character of what would be done, and nothing that could pass for more. */

import type { ApprovalQuestion } from "../../core/approval.ts";
import { exactText } from "../../lib/exact-text.ts";
import { dim } from "./style.ts";
import { wrapLine } from "./wrap.ts";

export const RUN_IT = "Run it? [y/N] ";

/**
 * Every row begins with a margin, so that no text can look like the program's own. It is wrapped here for
 * the same reason: the terminal would go on in the first column.
 */
const INDENT = "  ";
/** Of a line of what would be done, and of the rows in which it goes on. */
const LINE = "│ ";
const CONTINUED = "┆ ";
const MARGIN_CELLS = 2;
/** With more of them the beginning may have left the screen, and the end alone looks harmless. */
const ROWS_IN_SIGHT = 20;

export interface QuestionLook {
  readonly width: (text: string) => number;
  readonly color: boolean;
}

/** `text` in lines broken at its spaces, as far as it has some. */
function folded(text: string, cells: number, width: (text: string) => number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && width(line) <= cells) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines;
}

/** The tool, the reason, and in full what would be done. */
export function drawQuestion(
  { tool, what, reason }: Pick<ApprovalQuestion, "tool" | "what" | "reason">,
  columns: number,
  look: QuestionLook,
): string {
  const cells = Math.max(2, columns - 1 - MARGIN_CELLS);
  const inMargin = (first: string, next: string) => (line: string) =>
    [...wrapLine(line, 0, cells, look.width)].map(({ text }, index) => (index === 0 ? first : next) + text);
  const why = exactText(`${tool} asks for your permission: ${reason}`.replaceAll("\n", " "));
  const rows = exactText(what)
    .split("\n")
    .flatMap(inMargin(dim(LINE, look.color), dim(CONTINUED, look.color)));
  const isOutOfSight = rows.length > ROWS_IN_SIGHT;
  return [
    ...folded(why, cells, look.width).flatMap((line, index) =>
      inMargin(index === 0 ? "" : INDENT, INDENT)(line),
    ),
    ...rows,
    ...(isOutOfSight
      ? folded(`Read all ${rows.length} rows of it, from the first one on.`, cells, look.width)
      : []),
  ].join("\n");
}

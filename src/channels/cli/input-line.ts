/** How the edited text looks: soft-wrapped behind a prompt, with the cursor in the right cell. */

import type { EditorState } from "./editor.ts";
import { graphemes, lineEnd, lineStart } from "./graphemes.ts";
import type { Picture } from "./screen.ts";
import { dim } from "./style.ts";
import { type Row, visible, wrapLine } from "./wrap.ts";

const PROMPT = "› ";
const CONTINUATION = "  ";
const HIDDEN = "… ";
const PREFIX_CELLS = 2;

/** Rows drawn at once. A picture taller than the window cannot be erased, and the window's height is not known. */
const MAX_ROWS = 10;

export interface InputLook {
  readonly width: (text: string) => number;
  readonly color: boolean;
}

/** Where to begin and end so that enough lines on both sides of the cursor are laid out, and not all of a long text. */
function around(text: string, cursor: number): { start: number; end: number } {
  let start = lineStart(text, cursor);
  let end = lineEnd(text, cursor);
  for (let line = 0; line < MAX_ROWS && start > 0; line += 1) start = lineStart(text, start - 1);
  for (let line = 0; line < MAX_ROWS && end < text.length; line += 1) end = lineEnd(text, end + 1);
  return { start, end };
}

/** The picture of an edited text: at most ten rows around the cursor, what is hidden shown by an ellipsis. */
export function drawInput(
  { text, cursor }: Pick<EditorState, "text" | "cursor">,
  columns: number,
  look: InputLook,
): Picture {
  // One column stays free: a cursor behind the last column is in a place terminals disagree about.
  const cells = Math.max(2, columns - 1 - PREFIX_CELLS);
  const { start, end } = around(text, cursor);
  const rows: Row[] = [];
  let lineOffset = start;
  for (const line of text.slice(start, end).split("\n")) {
    for (const row of wrapLine(line, lineOffset, cells, look.width)) rows.push(row);
    lineOffset += line.length + 1;
  }

  const cursorRow = rows.findLastIndex((row) => row.start <= cursor);
  const top = Math.max(0, Math.min(cursorRow - MAX_ROWS / 2, rows.length - MAX_ROWS));
  const shown = rows.slice(top, top + MAX_ROWS);
  const hiddenAbove = start > 0 || top > 0;
  const hiddenBelow = end < text.length || top + MAX_ROWS < rows.length;

  let cursorColumn = PREFIX_CELLS;
  for (const grapheme of graphemes(text.slice(rows[cursorRow]?.start ?? cursor, cursor))) {
    cursorColumn += look.width(visible(grapheme));
  }
  const prefix = (index: number) => {
    if (index === 0) return hiddenAbove ? dim(HIDDEN, look.color) : PROMPT;
    return index === shown.length - 1 && hiddenBelow ? dim(HIDDEN, look.color) : CONTINUATION;
  };
  return {
    rows: shown.map((row, index) => ({ text: prefix(index) + row.text, cells: PREFIX_CELLS + row.cells })),
    cursorRow: cursorRow - top,
    cursorColumn,
  };
}

/** A submitted text as it stays on the screen. */
export function drawSubmitted(text: string, columns: number, look: InputLook): string {
  const { rows } = drawInput({ text, cursor: 0 }, columns, look);
  return rows.map((row) => row.text).join("\n");
}

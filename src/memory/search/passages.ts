/** Markdown as passages: an entry, a point of a list, a paragraph or a heading. */

import { type Block, type Line, linesOf } from "./whole-lines.ts";

/** Longer ones are searched in parts. */
const LONGEST_PASSAGE = 8_000;

const STAMP = /^\[(\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?)?)/;
const BEGINNING = /^(?:\s*(?:[-*+]|\d{1,9}[.)])\s|#{1,6}\s|\[\d{4}-\d{2}-\d{2})/;

export interface Passage extends Line {
  readonly text: string;
  /** The time that it begins with, as it is written. */
  readonly stamp: string | undefined;
}

/** None goes on in the next block. */
export function* passagesOf(block: Block): Generator<Passage> {
  let lines: string[] = [];
  let length = 0;
  let from = 0;
  let to = 0;
  const passage = (): Passage => ({
    from,
    to,
    text: lines.join("\n"),
    stamp: STAMP.exec(lines[0] ?? "")?.[1],
  });

  for (const line of linesOf(block)) {
    const text = block.bytes.toString("utf8", line.from, line.to);
    const isBlank = text.trim() === "";
    if (lines.length > 0 && (isBlank || length + text.length > LONGEST_PASSAGE || BEGINNING.test(text))) {
      yield passage();
      lines = [];
      length = 0;
    }
    if (isBlank) continue;
    if (lines.length === 0) from = line.from;
    lines.push(text);
    length += text.length;
    to = line.to;
  }
  if (lines.length > 0) yield passage();
}

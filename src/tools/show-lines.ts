/** A window of numbered lines, and what to say below it. */

import { type ToolResult, toolError, toolOk } from "../core/tool.ts";
import { quote } from "../lib/file-error.ts";
import { findLastLines } from "./last-lines.ts";
import type { LineSource } from "./line-source.ts";
import { type LineWindow, readWindow } from "./line-window.ts";

export const MAX_LINES = 2_000;
export const MAX_CHARS = 128_000;
const MAX_SCANNED_BYTES = 256 * 1024 * 1024;
const BOUNDS = { maxChars: MAX_CHARS, maxBytes: MAX_SCANNED_BYTES };

export interface WantedLines {
  /** The first, from 1; a negative one counts from the end. */
  readonly offset: number;
  readonly maxLines: number;
  /** The path as the model wrote it. */
  readonly path: string;
}

export async function showLines(source: LineSource, wanted: WantedLines): Promise<ToolResult> {
  const { offset, maxLines, path } = wanted;
  if (offset < 0) return showLastLines(source, wanted);
  return describe(await readWindow(source.stream(0), { ...BOUNDS, first: offset, maxLines }), offset, path);
}

async function showLastLines(
  source: LineSource,
  { offset, maxLines, path }: WantedLines,
): Promise<ToolResult> {
  const { bytes, read, stream } = source;
  const last = await findLastLines(read, { bytes, count: -offset, maxBytes: MAX_SCANNED_BYTES });
  if (last === undefined) {
    return toolError(
      `Cannot read ${quote(path)} from line ${offset}: the last ${MAX_SCANNED_BYTES} bytes were searched and the line was not reached; use exec with tail or grep`,
    );
  }
  const window = await readWindow(stream(last.start), {
    ...BOUNDS,
    first: 1,
    label: -last.count,
    isWhole: last.start === 0,
    // No more than were there: what is written to the end meanwhile has no number.
    maxLines: Math.min(maxLines, last.count),
  });
  return describeEnding(window, last.count, last.start === 0);
}

function describe({ lines, cutAt, stop }: LineWindow, offset: number, path: string): ToolResult {
  const last = offset + lines.length - 1;
  if (lines.length === 0) {
    if (stop.kind === "gaveUp") {
      return toolError(
        `Cannot read ${quote(path)} from line ${offset}: ${MAX_SCANNED_BYTES} bytes were searched and the line was not reached; use exec with sed, tail or grep`,
      );
    }
    if (stop.kind === "end" && stop.total > 0) {
      return toolError(
        `Cannot read ${quote(path)} from line ${offset}: the file ends at line ${stop.total}; use an offset from 1 to ${stop.total}`,
      );
    }
    return toolOk("(The file is empty)");
  }
  const notes = whatWasCut(cutAt, offset);
  if (stop.kind === "end") notes.push(endOfFile(stop.total));
  if (stop.kind === "more")
    notes.push(`(Showing lines ${offset}-${last}. Use offset=${last + 1} to continue.)`);
  if (stop.kind === "gaveUp")
    notes.push(`(Stopped after ${MAX_SCANNED_BYTES} bytes. Use exec with sed or tail to see what follows)`);
  return toolOk(`${lines.join("\n")}\n\n${notes.join("\n")}`);
}

/** `count` lines from the end on; `isAll` when the file has no others. */
function describeEnding({ lines, cutAt }: LineWindow, count: number, isAll: boolean): ToolResult {
  if (lines.length === 0) return toolOk("(The file is empty)");
  const notes = whatWasCut(cutAt, -count);
  const next = lines.length - count;
  if (next < 0) {
    notes.push(
      `(Showing lines -${count} to ${next - 1}, counted from the end. Use offset=${next} to continue.)`,
    );
  } else notes.push(isAll ? endOfFile(count) : "(End of file. Lines are counted from the end.)");
  return toolOk(`${lines.join("\n")}\n\n${notes.join("\n")}`);
}

function endOfFile(total: number): string {
  return `(End of file — ${total} ${total === 1 ? "line" : "lines"} total)`;
}

function whatWasCut(cutAt: number | undefined, line: number): string[] {
  if (cutAt === undefined) return [];
  return [
    `(Line ${line} is longer: only its first ${cutAt} characters are shown. Use exec with cut to see the rest)`,
  ];
}

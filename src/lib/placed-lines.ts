/** The lines of a file with their places, from its end as well, so that opening costs what is wanted and not what is there. */

import { Buffer } from "node:buffer";
import type { FileSystem } from "../core/platform.ts";

/** Where a line begins, and its bytes without the newline. */
export interface PlacedLine {
  readonly at: number;
  readonly bytes: Uint8Array;
}

const CHUNK = 64 * 1024;
const NEWLINE = 0x0a;

/** Longer ones are handed on cut, and so count as damaged; nothing we write comes near. */
const LONGEST_LINE = 32 * 1024 * 1024;

/**
 * The lines of the first `end` bytes, last one first. What follows the last newline is a line too, if
 * there is something.
 */
export async function* linesFromEnd(
  files: FileSystem,
  path: string,
  end: number,
): AsyncGenerator<PlacedLine> {
  let position = end;
  // The part of a line whose beginning is not read yet, in file order.
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let first = true;
  const take = (at: number, part: Uint8Array): PlacedLine => {
    const bytes = pending.length === 0 ? part : Buffer.concat([part, ...pending]);
    pending = [];
    pendingBytes = 0;
    return { at, bytes };
  };
  while (position > 0) {
    const start = Math.max(0, position - CHUNK);
    const chunk = await files.read(path, { start, end: position });
    let stop = chunk.length;
    for (let newline = chunk.lastIndexOf(NEWLINE, stop - 1); newline >= 0 && stop > 0; ) {
      const line = take(start + newline + 1, chunk.subarray(newline + 1, stop));
      if (!first || line.bytes.length > 0) yield line;
      first = false;
      stop = newline;
      newline = stop > 0 ? chunk.lastIndexOf(NEWLINE, stop - 1) : -1;
    }
    if (pendingBytes < LONGEST_LINE) {
      pending.unshift(chunk.subarray(0, stop));
      pendingBytes += stop;
    }
    position = start;
  }
  if (pendingBytes > 0 || !first) yield take(0, new Uint8Array());
}

/** The lines of a stream of bytes, first one first, from `at` on. */
export async function* linesFromStart(chunks: AsyncIterable<Uint8Array>, at = 0): AsyncGenerator<PlacedLine> {
  let lineAt = at;
  let position = at;
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let newline = chunk.indexOf(NEWLINE); newline >= 0; newline = chunk.indexOf(NEWLINE, from)) {
      const bytes = Buffer.concat([...pending, chunk.subarray(from, newline)]);
      yield { at: lineAt, bytes };
      pending = [];
      pendingBytes = 0;
      from = newline + 1;
      lineAt = position + from;
    }
    if (from < chunk.length && pendingBytes < LONGEST_LINE) {
      pending.push(chunk.slice(from));
      pendingBytes += chunk.length - from;
    }
    position += chunk.length;
  }
  if (pendingBytes > 0) yield { at: lineAt, bytes: Buffer.concat(pending) };
}

/** Where the last lines of a file begin, found from its end in blocks, however long the file is. */

import { asBuffer } from "../lib/bytes.ts";

const NEWLINE = 0x0a;
const FIRST_BLOCK = 64 * 1024;
const LARGEST_BLOCK = 1024 * 1024;

export interface LastLinesOptions {
  /** How long the file is. */
  readonly bytes: number;
  /** Lines wanted. */
  readonly count: number;
  /** How much may be searched before the search is given up. */
  readonly maxBytes: number;
}

export interface LastLines {
  /** The offset of the first byte of the first of them. */
  readonly start: number;
  /** How many they are: fewer than wanted when the file has no more. */
  readonly count: number;
}

/** `undefined` when the search was given up. */
export async function findLastLines(
  read: (start: number, end: number) => Promise<Uint8Array>,
  { bytes, count, maxBytes }: LastLinesOptions,
): Promise<LastLines | undefined> {
  if (bytes === 0) return { start: 0, count: 0 };
  let newlines = 0;
  let size = FIRST_BLOCK;
  for (let end = bytes; end > 0; size = Math.min(2 * size, LARGEST_BLOCK)) {
    if (bytes - end >= maxBytes) return undefined;
    const start = Math.max(0, end - size);
    const chunk = await read(start, end);
    const block = asBuffer(chunk);
    // The newline at the very end closes the last line and begins none.
    let at = start + block.length === bytes ? block.length - 1 : block.length;
    while (at > 0) {
      at = block.lastIndexOf(NEWLINE, at - 1);
      if (at < 0) break;
      if (++newlines === count) return { start: start + at + 1, count };
    }
    end = start;
  }
  return { start: 0, count: newlines + 1 };
}

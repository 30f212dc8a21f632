/** A file as blocks of whole lines, for whoever looks at all of them and keeps few. */

import { Buffer } from "node:buffer";

const NEWLINE = 0x0a;
/** Longer lines are left out, so that none takes memory without bound. */
const LONGEST_LINE = 2 * 1024 * 1024;

export interface Block {
  /** Where in the file it begins. */
  readonly at: number;
  /** Each line with its newline; only the last line of a file may have none. */
  readonly bytes: Buffer;
}

/** A line without its newline: where in the bytes of its block it begins and ends. */
export interface Line {
  readonly from: number;
  readonly to: number;
}

export async function* wholeLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Block> {
  let position = 0;
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let isTooLong = false;

  function keep(part: Uint8Array): void {
    isTooLong ||= pendingBytes + part.length > LONGEST_LINE;
    pending = isTooLong ? [] : [...pending, part];
    pendingBytes = isTooLong ? 0 : pendingBytes + part.length;
  }

  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      const from = isTooLong ? chunk.indexOf(NEWLINE) + 1 : 0;
      const bytes = Buffer.concat([...pending, chunk.subarray(from, end)]);
      if (bytes.length > 0) yield { at: position + from - pendingBytes, bytes };
      pending = [];
      pendingBytes = 0;
      isTooLong = false;
    }
    if (end < chunk.length) keep(chunk.subarray(end));
    position += chunk.length;
  }
  if (pendingBytes > 0) yield { at: position - pendingBytes, bytes: Buffer.concat(pending) };
}

export function* linesOf({ bytes }: Block): Generator<Line> {
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, from);
    const to = newline < 0 ? bytes.length : newline;
    yield { from, to };
    from = to + 1;
  }
}

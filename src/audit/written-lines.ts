/** The lines of the log as they stand in its files, each with the one that follows. */

import { type SealedLine, unseal } from "./chain.ts";

export interface Place {
  /** As people know it. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

export interface WrittenLine extends Place {
  readonly bytes: Uint8Array;
  readonly isTerminated: boolean;
}

export interface ReadLine extends WrittenLine {
  /** `undefined` when it is no line of ours. */
  readonly sealed: SealedLine | undefined;
}

/** One line is kept back, because what a line that does not fit means is seen by the next one. */
export async function* inPairs(
  lines: AsyncIterable<WrittenLine>,
): AsyncGenerator<{ readonly current: ReadLine; readonly next: ReadLine | undefined }> {
  let current: ReadLine | undefined;
  for await (const line of lines) {
    const next: ReadLine = { ...line, sealed: unseal(line.bytes) };
    if (current !== undefined) yield { current, next };
    current = next;
  }
  if (current !== undefined) yield { current, next: undefined };
}

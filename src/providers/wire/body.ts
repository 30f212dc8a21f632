/** Reads the body of a response: chunk by chunk, or as text up to a bound. */

import type { Clock } from "../../core/platform.ts";
import { BrokenOff } from "./errors.ts";

export interface Chunks {
  /** `undefined` at the end. Rejects with a `BrokenOff` when the connection breaks. */
  next(): Promise<Uint8Array | undefined>;
  /** Nothing more is wanted, so the connection may be closed. */
  cutOff(): void;
}

export function chunksOf({ body }: Response): Chunks {
  const reader = body?.getReader();
  return {
    async next() {
      try {
        return (await reader?.read())?.value;
      } catch (cause) {
        throw new BrokenOff("the connection broke", { cause });
      }
    },
    // On a broken connection there is nothing to give back, and that is no news.
    cutOff: () => void reader?.cancel().catch(() => {}),
  };
}

/**
 * The beginning of a body, of at most `limit` bytes, as far as it came `withinMs`. `isWhole` says that there
 * were no more bytes. Rejects with a `BrokenOff` when the connection breaks.
 */
export async function readBounded(
  response: Response,
  limit: number,
  time?: { readonly clock: Clock; readonly withinMs: number },
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const chunks = chunksOf(response);
  let isLate = false;
  const callOff = time?.clock.after(time.withinMs, () => {
    isLate = true;
    chunks.cutOff();
  });
  try {
    const { text, isWhole } = await readUpTo(chunks, limit);
    return { text, isWhole: isWhole && !isLate };
  } finally {
    callOff?.();
  }
}

async function readUpTo(chunks: Chunks, limit: number): ReturnType<typeof readBounded> {
  const decoder = new TextDecoder();
  let text = "";
  let left = limit;
  for (let chunk = await chunks.next(); chunk !== undefined; chunk = await chunks.next()) {
    text += decoder.decode(chunk.subarray(0, left), { stream: true });
    left -= chunk.length;
    if (left < 0) {
      chunks.cutOff();
      return { text, isWhole: false };
    }
  }
  return { text: text + decoder.decode(), isWhole: true };
}

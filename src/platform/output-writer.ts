/**
 * Writes text to one of the process's own outputs, in order and at once, so that nothing is lost when the
 * process ends. The runtimes' streams lose what a pipe has not taken (Bun), and cost a start 18 ms and 7 MB.
 */

import { writeSync } from "node:fs";
import { UserError } from "../core/errors.ts";
import { errorCode } from "../lib/error-code.ts";

export interface OutputWriter {
  write(text: string): void;
  /** Resolves when all that was written has left the process. Rejects if the rest could not be written. */
  flush(): Promise<void>;
}

/** The reader has gone, as in `| head`, or was never there: what nobody reads needs no writing. */
const GONE = ["EPIPE", "EIO", "EBADF", "ECONNRESET"];
/** Whoever leaves this much unread is as good as gone. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const RETRY_MS = 5;

/** Returns how many bytes were written, or throws the system's error. */
export type WriteBytes = (bytes: Uint8Array) => number;

export function createOutputWriter(
  fd: number,
  { writeBytes = (bytes) => writeSync(fd, bytes) }: { writeBytes?: WriteBytes } = {},
): OutputWriter {
  const encoder = new TextEncoder();
  /** What a full pipe did not take. Only pipes that were made non-blocking refuse anything. */
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let isGone = false;
  let emptied: PromiseWithResolvers<void> | undefined;

  /** Returns what could not be written now. */
  function writeNow(bytes: Uint8Array): Uint8Array {
    let rest = bytes;
    while (rest.length > 0 && !isGone) {
      try {
        rest = rest.subarray(writeBytes(rest));
      } catch (error) {
        const code = errorCode(error) ?? "";
        if (code === "EAGAIN") return rest;
        if (code === "ENOSPC") {
          throw new UserError("Cannot write the output: the disk is full", { cause: error, exitCode: 1 });
        }
        if (!GONE.includes(code)) throw error;
        isGone = true;
      }
    }
    return new Uint8Array(0);
  }

  function keep(rest: Uint8Array): void {
    if (rest.length === 0) return;
    waiting.push(rest);
    waitingBytes += rest.length;
    if (waitingBytes > MAX_WAITING_BYTES) isGone = true;
    if (emptied !== undefined) return;
    emptied = Promise.withResolvers();
    // Whether anybody flushes is up to them; this one must not count as unhandled.
    emptied.promise.catch(() => undefined);
    setTimeout(retry, RETRY_MS);
  }

  function retry(): void {
    const again = waiting;
    waiting = [];
    waitingBytes = 0;
    try {
      for (const bytes of again) {
        const rest = waiting.length > 0 ? bytes : writeNow(bytes);
        if (rest.length > 0) {
          waiting.push(rest);
          waitingBytes += rest.length;
        }
      }
    } catch (error) {
      isGone = true;
      emptied?.reject(error);
      return;
    }
    if (waiting.length > 0 && !isGone) {
      setTimeout(retry, RETRY_MS);
      return;
    }
    waiting = [];
    emptied?.resolve();
    emptied = undefined;
  }

  return {
    write(text) {
      if (isGone) return;
      const bytes = encoder.encode(text);
      keep(waiting.length > 0 ? bytes : writeNow(bytes));
    },
    flush: () => emptied?.promise ?? Promise.resolve(),
  };
}

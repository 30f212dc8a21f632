/** Tries again for as long as it takes, at the pace that the platform asks for. */

import { SendError } from "../../core/channel.ts";
import type { Clock } from "../../core/platform.ts";

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Waits after each failure in a row, longer every time, or as long as the platform says. */
export interface Backoff {
  wait(error: unknown, signal: AbortSignal): Promise<void>;
  reset(): void;
}

export function createBackoff(clock: Clock): Backoff {
  let next = FIRST_WAIT_MS;
  return {
    async wait(error, signal) {
      if (error instanceof SendError && error.kind === "slowDown") {
        await clock.sleep(Math.max(FIRST_WAIT_MS, error.retryAfterMs), signal);
        return;
      }
      const ms = next;
      next = Math.min(next * 2, LONGEST_WAIT_MS);
      await clock.sleep(ms, signal);
    },
    reset() {
      next = FIRST_WAIT_MS;
    },
  };
}

/** Whether it may be different the next time. Anything but a `SendError` is a bug and goes up. */
export function isWorthRepeating(error: unknown): error is SendError {
  return error instanceof SendError && error.kind !== "unauthorized";
}

interface PersistOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told of every failure after which it goes on. */
  readonly onProblem: (problem: SendError) => void;
}

/** Resolves to what `work` does in the end. Rejects when trying again is of no use, or with the signal's reason. */
export async function persist<T>(
  work: () => Promise<T>,
  { clock, signal, onProblem }: PersistOptions,
): Promise<T> {
  const backoff = createBackoff(clock);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!isWorthRepeating(error)) throw error;
      onProblem(error);
      await backoff.wait(error, signal);
    }
  }
}

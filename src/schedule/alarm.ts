/** Waits for a time, or until somebody says that things have changed. */

import type { Clock } from "../core/platform.ts";
import { aborted, limitSignal } from "../lib/abort.ts";

export interface Alarm {
  /** Ends the waiting, also one that begins only now. */
  wake(): void;
  /** Until `ms`, milliseconds since the epoch, and never longer than the longest wait. Never rejects. */
  waitUntil(ms: number | undefined, signal: AbortSignal): Promise<void>;
}

export interface AlarmOptions {
  readonly clock: Pick<Clock, "now" | "after">;
  /** A clock that is being put right must not make us ask it without a pause. */
  readonly shortestMs: number;
  readonly longestMs: number;
}

export function createAlarm({ clock, shortestMs, longestMs }: AlarmOptions): Alarm {
  let isWoken = false;
  let stopWaiting: (() => void) | undefined;

  return {
    wake() {
      isWoken = true;
      stopWaiting?.();
    },

    async waitUntil(until = Number.POSITIVE_INFINITY, signal) {
      const ms = Math.min(Math.max(until - clock.now(), shortestMs), longestMs);
      const limit = limitSignal(signal, { clock, ms });
      stopWaiting = () => limit.abort();
      // What changed while it was looked for must be looked at too.
      if (!isWoken) await aborted(limit.signal);
      stopWaiting = undefined;
      isWoken = false;
      limit.release();
    },
  };
}

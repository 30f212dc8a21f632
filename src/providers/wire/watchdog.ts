/** Gives up on a call that has gone silent or takes too long, and passes on the caller's abort. */

import type { Clock } from "../../core/platform.ts";
import { Expired } from "./model-failure.ts";

export interface Watchdog {
  /** Aborts with the caller's reason, or with an `Expired`. */
  readonly signal: AbortSignal;
  /** Bytes arrived. */
  touch(): void;
  /** Ends the watch. Safe to call more than once. */
  stop(): void;
}

function seconds(ms: number): string {
  return ms % 1000 === 0 || ms > 10_000 ? `${Math.round(ms / 1000)} seconds` : `${ms} milliseconds`;
}

/**
 * Starts at once. One timer is set again when it finds that bytes came in between, so that a chunk costs
 * no more than a look at the clock.
 */
export function startWatchdog({
  clock,
  signal,
  firstByteMs,
  idleMs,
  totalMs,
}: {
  clock: Clock;
  signal: AbortSignal;
  firstByteMs: number;
  idleMs: number;
  totalMs: number | undefined;
}): Watchdog {
  const controller = new AbortController();
  let lastByte: number | undefined;
  const started = clock.elapsed();

  function check(): void {
    const quietSince = lastByte ?? started;
    const allowed = lastByte === undefined ? firstByteMs : idleMs;
    const left = quietSince + allowed - clock.elapsed();
    if (left > 0) {
      cancelCheck = clock.after(left, check);
    } else {
      const what = lastByte === undefined ? "did not answer within" : "went silent for";
      controller.abort(new Expired(`${what} ${seconds(allowed)}`));
    }
  }

  let cancelCheck = clock.after(firstByteMs, check);
  const cancelTotal =
    totalMs === undefined
      ? undefined
      : clock.after(totalMs, () => {
          controller.abort(new Expired(`took longer than ${seconds(totalMs)} to reply`));
        });
  const onAbort = () => controller.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });

  return {
    signal: controller.signal,
    touch() {
      if (lastByte === undefined) {
        // The first wait may be longer than the ones after it.
        cancelCheck();
        cancelCheck = clock.after(idleMs, check);
      }
      lastByte = clock.elapsed();
    },
    stop() {
      cancelCheck();
      cancelTotal?.();
      signal.removeEventListener("abort", onAbort);
    },
  };
}

/** Gives up on a call that has gone silent or takes too long, and passes on the caller's abort. */

import type { Clock } from "../../core/platform.ts";
import { limitSignal } from "../../lib/abort.ts";
import { Expired } from "./errors.ts";

export interface Watchdog {
  /** Aborts with the caller's reason, or with an `Expired`. */
  readonly signal: AbortSignal;
  /** Bytes arrived. */
  touch(): void;
  /** The reply is complete: a silence of `ms` is the end of it from now on. */
  linger(ms: number): void;
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
  const limited = limitSignal(signal, {
    clock,
    ms: totalMs,
    reason: () => new Expired(`took longer than ${seconds(totalMs ?? 0)} to reply`),
  });
  let heard = clock.elapsed();
  let allowed = firstByteMs;
  let isWaiting = true;
  let isLingering = false;
  let cancelCheck = clock.after(allowed, check);

  function check(): void {
    const left = heard + allowed - clock.elapsed();
    if (left > 0) {
      cancelCheck = clock.after(left, check);
    } else {
      const what = isWaiting ? "did not answer within" : "went silent for";
      limited.abort(new Expired(`${what} ${seconds(allowed)}`));
    }
  }

  /** The silence that was allowed until now may have been a longer one. */
  function allow(ms: number): void {
    allowed = ms;
    cancelCheck();
    cancelCheck = clock.after(ms, check);
  }

  return {
    signal: limited.signal,
    touch() {
      heard = clock.elapsed();
      if (!isWaiting) return;
      isWaiting = false;
      allow(idleMs);
    },
    linger(ms) {
      if (isLingering) return;
      isLingering = true;
      allow(ms);
    },
    stop() {
      cancelCheck();
      limited.release();
    },
  };
}

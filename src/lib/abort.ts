/** The abort idiom, written once. */

import type { Clock } from "../core/platform.ts";

/**
 * Waits for `promise`, and stops waiting when `signal` aborts: then it rejects with the signal's reason.
 * The promise's own work is not stopped by that, so give it the signal too where it takes one.
 */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // Nobody will look at it any more, and an unobserved rejection would end the process.
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** A caller's signal that can also run out of time, or be aborted by whoever holds it. */
interface LimitedSignal {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Neither the caller nor the time matter any more. Safe to call more than once. */
  release(): void;
}

interface SignalLimit {
  readonly clock: Pick<Clock, "after">;
  /** No limit when `undefined`. */
  readonly ms: number | undefined;
  /** Of the abort when the time is over. */
  readonly reason?: () => unknown;
}

/** Aborts with the caller and with its reason, or after `ms`, whichever comes first. */
export function limitSignal(caller: AbortSignal, { clock, ms, reason }: SignalLimit): LimitedSignal {
  const controller = new AbortController();
  const onAbort = () => controller.abort(caller.reason);
  // One that has aborted tells nobody any more.
  if (caller.aborted) onAbort();
  else caller.addEventListener("abort", onAbort, { once: true });
  const callOff =
    ms === undefined || caller.aborted ? undefined : clock.after(ms, () => controller.abort(reason?.()));
  return {
    signal: controller.signal,
    abort: (because) => controller.abort(because),
    release() {
      callOff?.();
      caller.removeEventListener("abort", onAbort);
    },
  };
}

/** For what must not be cut short: a signal that never aborts. */
export const never: AbortSignal = new AbortController().signal;

/** Resolves when it aborts, for whoever works until then. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

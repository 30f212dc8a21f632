/** The time of this machine. */

import type { Clock } from "../core/platform.ts";

/** Longer timers fire at once, so that long waits are made of several. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),

  async sleep(ms, signal) {
    const end = performance.now() + ms;
    do {
      await pause(Math.min(Math.max(0, end - performance.now()), MAX_TIMER_MS), signal);
    } while (performance.now() < end);
  },

  after(ms, task) {
    const end = performance.now() + ms;
    let timer: NodeJS.Timeout;
    const arm = () => {
      const left = end - performance.now();
      if (left <= 0) return task();
      timer = setTimeout(arm, Math.min(Math.ceil(left), MAX_TIMER_MS));
      // What should happen later is no reason to stay alive for it.
      timer.unref();
    };
    timer = setTimeout(arm, Math.min(Math.max(0, ms), MAX_TIMER_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },

  giveWay: () =>
    new Promise((resolve) => {
      setImmediate(resolve);
    }),
};

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** A clock that moves only when a test says so. */

import type { Clock } from "../../src/core/platform.ts";

export interface FakeClock extends Clock {
  /**
   * Moves the time on and runs, in order, what comes due. After each of them everything that can go on
   * without the clock goes on, so that a loop that sleeps again is served too.
   */
  advance(ms: number): Promise<void>;
  /** How many timers and sleeps are waiting. */
  readonly pending: number;
  /** Resolves as soon as at least `count` timers and sleeps are waiting: then the code under test is ready. */
  whenPending(count: number): Promise<void>;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** One turn of the event loop, so that settled promises and finished I/O are acted upon. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function createFakeClock(start = 1_700_000_000_000): FakeClock {
  let now = start;
  let order = 0;
  const timers = new Set<Timer>();
  let waiters: { count: number; resolve: () => void }[] = [];

  function add(ms: number, run: () => void): () => void {
    const timer = { at: now + Math.max(0, ms), order: order++, run };
    timers.add(timer);
    for (const waiter of waiters) if (timers.size >= waiter.count) waiter.resolve();
    waiters = waiters.filter((waiter) => timers.size < waiter.count);
    return () => void timers.delete(timer);
  }

  function nextDue(until: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.at > until) continue;
      if (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer;
    }
    return next;
  }

  return {
    now: () => now,
    elapsed: () => now - start,
    after: add,
    giveWay: turn,
    sleep(ms, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      return new Promise((resolve, reject) => {
        const cancel = add(ms, () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        });
        const onAbort = () => {
          cancel();
          reject(signal.reason);
        };
        signal.addEventListener("abort", onAbort, { once: true });
      });
    },
    async advance(ms) {
      const target = now + ms;
      for (let timer = nextDue(target); timer; timer = nextDue(target)) {
        timers.delete(timer);
        now = Math.max(now, timer.at);
        timer.run();
        await turn();
      }
      now = target;
      await turn();
    },
    get pending() {
      return timers.size;
    },
    whenPending(count) {
      if (timers.size >= count) return Promise.resolve();
      return new Promise((resolve) => waiters.push({ count, resolve }));
    },
  };
}

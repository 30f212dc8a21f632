/** Recognises the task that is begun again and again, turn after turn. */

import type { Clock } from "../core/platform.ts";

const WITHIN_MS = 60 * 60_000;
const MOST_TIMES = 3;
/** Tasks that are remembered. */
const MOST_KNOWN = 5_000;

export interface Repeats {
  /** Whether a session may begin this task once more within the hour. */
  mayBegin(sessionKey: string, same: string): boolean;
  /** `at` in milliseconds since the epoch. */
  began(sessionKey: string, same: string, at: number): void;
}

export function createRepeats(clock: Pick<Clock, "now">): Repeats {
  /** In the order of the last time. */
  const times = new Map<string, readonly number[]>();
  const keyOf = (sessionKey: string, same: string) => `${sessionKey}\0${same}`;
  // A time that is to come was noted before the clock was put back.
  const isRecent = (at: number) => Math.abs(clock.now() - at) < WITHIN_MS;
  return {
    mayBegin: (sessionKey, same) =>
      (times.get(keyOf(sessionKey, same)) ?? []).filter(isRecent).length < MOST_TIMES,
    began(sessionKey, same, at) {
      const key = keyOf(sessionKey, same);
      const before = (times.get(key) ?? []).filter(isRecent);
      times.delete(key);
      times.set(key, [...before, at].slice(-MOST_TIMES));
      const [oldest] = times.keys();
      if (times.size > MOST_KNOWN && oldest !== undefined) times.delete(oldest);
    },
  };
}

/** Leaves a model alone for a while after it has failed several times in a row. */

import type { Clock } from "../../core/platform.ts";

const MOST_FAILURES = 3;
const OPEN_MS = 60_000;

export interface Breaker {
  /** Whether it should be asked now. After the pause one failure is enough to be left alone again. */
  allows(): boolean;
  succeeded(): void;
  /** Not for what was wrong with one request, which says nothing of the next. */
  failed(): void;
}

export function createBreaker(clock: Clock): Breaker {
  let failures = 0;
  let openUntil = Number.NEGATIVE_INFINITY;
  return {
    allows: () => clock.elapsed() >= openUntil,
    succeeded() {
      failures = 0;
      openUntil = Number.NEGATIVE_INFINITY;
    },
    failed() {
      failures++;
      if (failures >= MOST_FAILURES) openUntil = clock.elapsed() + OPEN_MS;
    },
  };
}

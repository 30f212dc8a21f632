/** Leaves a model alone for a while after it has failed several times in a row. */

import type { ModelErrorKind } from "../../core/model.ts";
import type { Clock } from "../../core/platform.ts";

const MOST_FAILURES = 3;
const OPEN_MS = 60_000;

export interface Breaker {
  /** Whether it should be asked now. After the pause one failure is enough to be left alone again. */
  allows(): boolean;
  succeeded(): void;
  failed(kind: ModelErrorKind): void;
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
    failed(kind) {
      // What is wrong with one request says nothing of the next.
      if (kind !== "transient" && kind !== "auth" && kind !== "quota") return;
      failures++;
      if (failures >= MOST_FAILURES) openUntil = clock.elapsed() + OPEN_MS;
    },
  };
}

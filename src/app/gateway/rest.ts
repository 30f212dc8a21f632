/** Gives memory back when the gateway comes to rest: the runtime itself keeps what it may need again, for hours. */

import type { Clock } from "../../core/platform.ts";

/** Of silence, before it is worth a pause. */
const REST_MS = 3_000;

export interface Rest {
  /** Something begins: there is no rest until it has ended. */
  began(): void;
  ended(): void;
  /** No collection comes any more. */
  stop(): void;
}

/** Begins with a rest: what the start took is given back too. */
export function createRest(clock: Pick<Clock, "after">, collect: () => void): Rest {
  let running = 0;
  let callOff = clock.after(REST_MS, collect);
  return {
    began() {
      running++;
      callOff();
    },
    ended() {
      running--;
      if (running > 0) return;
      callOff();
      callOff = clock.after(REST_MS, collect);
    },
    stop: () => callOff(),
  };
}

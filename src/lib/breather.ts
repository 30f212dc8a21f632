/** Lets the rest of the program have its turn in the middle of long work. */

import type { Clock } from "../core/platform.ts";

/** Counts work rather than time: about a character read each, a few milliseconds together. */
const UNITS_AT_ONCE = 1_000_000;
/** A runtime is fifty times slower before it has compiled what it runs often, so that the beginning rests more. */
const UNITS_AT_FIRST = 50_000;

export interface Breather {
  /** Call before work of about `units`. Those who share a breather rest together, so that their work adds up. */
  take(units: number): Promise<void>;
}

export function createBreather(clock: Pick<Clock, "giveWay">): Breather {
  let taken = 0;
  let atOnce = UNITS_AT_FIRST;
  let resting: Promise<void> | undefined;

  async function rest(): Promise<void> {
    await clock.giveWay();
    taken = 0;
    atOnce = Math.min(atOnce * 1.3, UNITS_AT_ONCE);
    resting = undefined;
  }

  return {
    async take(units) {
      while (taken + units > atOnce && taken > 0) {
        resting ??= rest();
        await resting;
      }
      taken += units;
    },
  };
}

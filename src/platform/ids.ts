/** Ids that sort by the time they were made: 9 digits of milliseconds, 8 of chance, in base 36. */

import type { Ids } from "../core/platform.ts";

const TIME_DIGITS = 9;
const CHANCE_DIGITS = 8;
const CHANCES = 36 ** CHANCE_DIGITS;

/** `random` is at least 0 and below 1, like `Math.random`. Several processes stay apart by chance. */
export function createIds({ now, random }: { now: () => number; random: () => number }): Ids {
  let time = 0;
  let chance = 0;
  return {
    next() {
      // A clock that steps back must not make a later id sort before an earlier one.
      const isLater = now() > time;
      if (isLater) time = now();
      chance = isLater ? draw() : chance + 1;
      if (chance >= CHANCES) {
        time += 1;
        chance = draw();
      }
      return digits(time, TIME_DIGITS) + digits(chance, CHANCE_DIGITS);
    },
  };

  /** From the lower half, which leaves room to count up. */
  function draw(): number {
    return Math.floor((random() * CHANCES) / 2);
  }
}

function digits(value: number, length: number): string {
  return value.toString(36).padStart(length, "0");
}

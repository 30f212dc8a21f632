/** Learns which models' replies begin inside a block of reasoning, because their prompt ends in its opener. */

import { createRecent } from "../../lib/recent.ts";

/** One closer without an opener says little: a user can ask for it. */
const ENOUGH = 2;
/** Models that something is remembered about. */
const MOST_MODELS = 100;

/** What is known of one model. */
export interface ThoughtHabit {
  readonly startsInside: boolean;
  /** Whether text came before a closer without an opener in its latest reply. */
  note(sawStrayCloser: boolean): void;
}

export interface ThoughtHabits {
  of(model: string): ThoughtHabit;
}

export function createThoughtHabits(): ThoughtHabits {
  const models = createRecent<ThoughtHabit>({ most: MOST_MODELS });
  return { of: (model) => models.of(model, createHabit) };
}

function createHabit(): ThoughtHabit {
  /** How many of the latest replies had such a closer, one after the other. */
  let inARow = 0;
  return {
    get startsInside() {
      return inARow >= ENOUGH;
    },
    note(sawStrayCloser) {
      inARow = sawStrayCloser ? inARow + 1 : 0;
    },
  };
}

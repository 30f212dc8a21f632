/** When to kill: anywhere in time, or right where something has just happened. */

import type { Random } from "./random.ts";

/**
 * `posted` to a webhook, `accepted` by it; the model was `asked`, has `answered`; an answer is `delivering`, was
 * `delivered`; a journal is being made smaller (`compacting`). Seen from outside, before or after the program knows.
 */
const HAPPENINGS = ["posted", "accepted", "asked", "answered", "delivering", "delivered"] as const;
export type Happening = (typeof HAPPENINGS)[number] | "compacting";

export type Moment =
  | { readonly kind: "early"; readonly afterMs: number }
  | { readonly kind: "late"; readonly afterMs: number }
  | { readonly kind: "at"; readonly happening: Happening; readonly times: number };

/** A start that is killed `early` may not be ready yet; the others count from when it is. */
export function chooseMoment(random: Random): Moment {
  if (random.chance(0.12)) return { kind: "early", afterMs: random.between(0, 30) };
  if (random.chance(0.12)) return { kind: "early", afterMs: random.between(30, 250) };
  if (random.chance(0.3)) return { kind: "late", afterMs: random.between(0, 1_200) };
  if (random.chance(0.1)) return { kind: "at", happening: "compacting", times: random.between(1, 3) };
  const happening = random.pick([...HAPPENINGS] as [Happening, ...Happening[]]);
  return { kind: "at", happening, times: random.between(1, 25) };
}

export function describeMoment(moment: Moment): string {
  if (moment.kind === "at") return `when something was ${moment.happening} for the ${moment.times}. time`;
  return `${moment.afterMs} ms after it ${moment.kind === "early" ? "was started" : "was ready"}`;
}

export interface Happenings {
  readonly happened: (what: Happening) => void;
  /** Calls `act` inside the next happening of this kind but `times - 1`, before anything else is done about it. */
  at(what: Happening, times: number, act: () => void): void;
  /** Forgets what `at` waits for. */
  forget(): void;
}

export function createHappenings(): Happenings {
  let waiting: { what: Happening; times: number; act: () => void } | undefined;
  return {
    happened(what) {
      if (waiting?.what !== what) return;
      waiting.times -= 1;
      if (waiting.times > 0) return;
      const { act } = waiting;
      waiting = undefined;
      act();
    },
    at(what, times, act) {
      waiting = { what, times, act };
    },
    forget() {
      waiting = undefined;
    },
  };
}

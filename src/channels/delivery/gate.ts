/** Whether a channel's platform takes anything now. While it does not, all chats of the channel wait here. */

import type { Clock } from "../../core/platform.ts";
import { abortable } from "../../lib/abort.ts";

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** The right to send once. Whoever got it says how that went. */
export interface Pass {
  /** The platform answered, whatever it said. */
  reached(): void;
  /** It cannot be reached: one chat tries again after a while, and the others when that one got through. */
  unreachable(): void;
  /** Nothing can be sent until the channel changes. */
  hold(): void;
  /** It was not used. */
  giveBack(): void;
}

export interface Gate {
  /** For what is not worth waiting for. */
  readonly isOpen: boolean;
  /** How often the platform answered, whoever asked. */
  readonly answers: number;
  /** Rejects with the signal's reason. */
  pass(signal: AbortSignal): Promise<Pass>;
  /** The channel was started or stopped: what is known of it is out of date. */
  changed(): void;
  /** Nobody waits here any more. */
  end(): void;
}

export function createGate(clock: Pick<Clock, "after">): Gate {
  /** `trial`: the next one goes alone. */
  let state: "open" | "closed" | "trial" | "trying" = "open";
  /** Goes up with every change, so that a send that began before it changes nothing. */
  let era = 0;
  let answers = 0;
  let wait = FIRST_WAIT_MS;
  let callOff = (): void => {};
  const waiting = new Set<(pass: Pass) => void>();

  function admit(): Pass {
    const begun = era;
    return {
      reached() {
        answers++;
        if (state !== "open") open();
      },
      unreachable() {
        if (begun !== era) return;
        close();
        callOff = clock.after(wait, letOneTry);
        wait = Math.min(wait * 2, LONGEST_WAIT_MS);
      },
      hold() {
        if (begun === era) close();
      },
      giveBack() {
        if (begun === era && state === "trying") letOneTry();
      },
    };
  }

  function close(): void {
    era++;
    callOff();
    state = "closed";
  }

  function open(): void {
    era++;
    callOff();
    state = "open";
    wait = FIRST_WAIT_MS;
    const all = [...waiting];
    waiting.clear();
    for (const go of all) go(admit());
  }

  function letOneTry(): void {
    state = "trial";
    const [first] = waiting;
    if (first === undefined) return;
    waiting.delete(first);
    state = "trying";
    first(admit());
  }

  return {
    get isOpen() {
      return state === "open" || state === "trial";
    },

    get answers() {
      return answers;
    },

    async pass(signal) {
      signal.throwIfAborted();
      if (state === "open") return admit();
      if (state === "trial") {
        state = "trying";
        return admit();
      }
      const { promise, resolve } = Promise.withResolvers<Pass>();
      waiting.add(resolve);
      try {
        return await abortable(promise, signal);
      } finally {
        waiting.delete(resolve);
      }
    },

    changed() {
      if (waiting.size === 0) {
        open();
        return;
      }
      era++;
      callOff();
      wait = FIRST_WAIT_MS;
      letOneTry();
    },

    end: () => callOff(),
  };
}

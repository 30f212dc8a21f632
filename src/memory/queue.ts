/** What waits to be put into memory: one thing at a time, each place once, and what failed again when it is due. */

import type { Clock, Log } from "../core/platform.ts";
import type { SessionStore } from "../core/session.ts";
import { abortable } from "../lib/abort.ts";

type Place = Parameters<SessionStore["unconsolidated"]>[0];

/** One place, until all that was asked for is in memory. */
export interface Job {
  readonly place: Place;
  /** The newest turns that stay out, as `SessionStore.unconsolidated` takes it. */
  keepTokens: number;
  /** Nobody asked for it: it was found at the start. */
  isFound: boolean;
}

/** What comes next of a job: its next step, at once or later, or nothing. */
export type Next = "now" | { readonly inMs: number } | "done";

export interface QueueOptions<J extends Job> {
  readonly clock: Clock;
  readonly log: Log;
  readonly create: (job: Job) => J;
  /** Must not reject, unless the signal aborted. */
  readonly step: (job: J, signal: AbortSignal) => Promise<Next>;
}

export interface Queue {
  /** A place that waits already is not put behind itself. Says whether it is in the queue. Never throws. */
  add(job: Job): boolean;
  /** Resolves when the queue is empty or nothing more is done. */
  settled(signal: AbortSignal): Promise<void>;
  /** Gives up what is going on, for good. Resolves when it is over. */
  stop(): Promise<void>;
}

/** More places are found again by those who look for them. */
const MOST = 1_000;

interface Waiting<J> {
  readonly job: J;
  dueMs: number;
  isRunning: boolean;
  /** Somebody asked while it ran, and it may have looked before. */
  isAskedAgain: boolean;
}

export function createQueue<J extends Job>({ clock, log, create, step }: QueueOptions<J>): Queue {
  const waiting = new Map<string, Waiting<J>>();
  const stopped = new AbortController();
  let working: Promise<void> | undefined;
  let wake = () => {};

  /** The one that is due for longest, or how long that is from now. */
  function next(): { readonly id: string; readonly entry: Waiting<J>; readonly inMs: number } | undefined {
    let first: { id: string; entry: Waiting<J> } | undefined;
    for (const [id, entry] of waiting) {
      if (first === undefined || entry.dueMs < first.entry.dueMs) first = { id, entry };
    }
    return first && { ...first, inMs: first.entry.dueMs - clock.elapsed() };
  }

  function sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = clock.after(ms, () => wake());
      wake = () => {
        wake = () => {};
        callOff();
        resolve();
      };
    });
  }

  async function workOff(): Promise<void> {
    for (let first = next(); first !== undefined && !stopped.signal.aborted; first = next()) {
      if (first.inMs > 0) await sleep(first.inMs);
      else await take(first.id, first.entry);
    }
  }

  async function take(id: string, entry: Waiting<J>): Promise<void> {
    entry.isRunning = true;
    entry.isAskedAgain = false;
    const then = await step(entry.job, stopped.signal);
    entry.isRunning = false;
    waiting.delete(id);
    if (then === "done" && !entry.isAskedAgain) return;
    entry.dueMs = clock.elapsed() + (typeof then === "object" ? then.inMs : 0);
    // Behind the others, so that one long conversation does not keep them waiting.
    waiting.set(id, entry);
  }

  async function work(): Promise<void> {
    try {
      await workOff();
    } catch (error) {
      if (!stopped.signal.aborted) log.error("Memory of conversations stopped", { error });
    } finally {
      working = undefined;
    }
  }

  return {
    add({ place, keepTokens, isFound }) {
      if (stopped.signal.aborted) return false;
      const id = "archive" in place ? `archive ${place.archive}` : `session ${place.key}`;
      const known = waiting.get(id);
      if (known !== undefined) {
        known.job.keepTokens = Math.min(known.job.keepTokens, keepTokens);
        known.job.isFound &&= isFound;
        known.isAskedAgain = known.isRunning;
        return true;
      }
      if (waiting.size >= MOST) return false;
      const job = create({ place, keepTokens, isFound });
      waiting.set(id, { job, dueMs: clock.elapsed(), isRunning: false, isAskedAgain: false });
      wake();
      working ??= work();
      return true;
    },
    async settled(signal) {
      while (working !== undefined && !signal.aborted) {
        await abortable(working, signal).catch(() => {
          // It stopped waiting.
        });
      }
    },
    async stop() {
      stopped.abort();
      wake();
      await working;
      waiting.clear();
    },
  };
}

/** Recognises the task that is begun again and again, turn after turn. */

import type { Clock } from "../core/platform.ts";
import type { TaskRecord } from "./record.ts";

const WITHIN_MS = 60 * 60_000;
const MOST_TIMES = 3;
/** Tasks that are remembered. */
const MOST_KNOWN = 5_000;

type Repeated = Pick<TaskRecord, "sessionKey" | "same" | "asker">;

export interface Repeats {
  /** Whether this task may begin once more within the hour. */
  mayBegin(task: Repeated): boolean;
  began(task: Repeated & Pick<TaskRecord, "createdAt">): void;
}

/** The turn that begins it goes on from what came of another. */
export function isByResult({ asker }: Pick<TaskRecord, "asker">): boolean {
  return asker.origin === "subagent";
}

/** A person, or the time of a job, asks anew each time. Results that ask again would do so for ever. */
function keyOf(task: Repeated): string {
  const { sessionKey, asker, same } = task;
  return [sessionKey, ...(isByResult(task) ? [] : [asker.turn]), same].join("\0");
}

export function createRepeats(clock: Pick<Clock, "now">): Repeats {
  /** In the order of the last time. */
  const times = new Map<string, readonly number[]>();
  // A time that is to come was noted before the clock was put back.
  const isRecent = (at: number) => Math.abs(clock.now() - at) < WITHIN_MS;
  return {
    mayBegin: (task) => (times.get(keyOf(task)) ?? []).filter(isRecent).length < MOST_TIMES,
    began(task) {
      const key = keyOf(task);
      const before = (times.get(key) ?? []).filter(isRecent);
      times.delete(key);
      times.set(key, [...before, Date.parse(task.createdAt)].slice(-MOST_TIMES));
      const [oldest] = times.keys();
      if (times.size > MOST_KNOWN && oldest !== undefined) times.delete(oldest);
    },
  };
}

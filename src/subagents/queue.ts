/** Who runs now and who waits: in order, so many at once, nobody while background work pauses, and one to try it after. */

import type { BackgroundPause } from "../core/background.ts";
import type { Clock } from "../core/platform.ts";

/** Between two looks at whether a pause is over. */
const LONGEST_HOLD_MS = 5 * 60_000;

export interface TaskQueue<Job> {
  add(job: Job): void;
  /** Takes a job out that has not begun. `false` when it is not there. */
  remove(job: Job): boolean;
  /** Begins nothing any more. */
  close(): void;
}

export interface QueueOptions<Job> {
  readonly limit: number;
  readonly pause: Pick<BackgroundPause, "leftMs">;
  readonly clock: Pick<Clock, "after">;
  /** Resolves when its place is free. Never rejects. `onAnswered` is called whenever the provider has done its part. */
  readonly run: (job: Job, onAnswered: () => void) => Promise<void>;
  /** Whether a job can wait for hours. One that cannot is taken out when a pause comes before its turn. */
  readonly isPatient: (job: Job) => boolean;
  readonly onPaused: (job: Job, leftMs: number) => void;
}

export function createTaskQueue<Job>(options: QueueOptions<Job>): TaskQueue<Job> {
  const { limit, pause, clock, run, isPatient, onPaused } = options;
  let waiting: readonly Job[] = [];
  let running = 0;
  let isClosed = false;
  /** After a pause, until the provider has answered: more than one would all fail of what began it. */
  let isTrial = false;
  let callOff = () => {};

  function beginNext(): void {
    callOff();
    while (!isClosed && running < (isTrial ? 1 : limit)) {
      const [job, ...others] = waiting;
      if (job === undefined) return;
      const leftMs = pause.leftMs();
      if (leftMs > 0) {
        holdBack(leftMs);
        return;
      }
      waiting = others;
      running++;
      run(job, endTrial).finally(() => {
        running--;
        beginNext();
      });
    }
  }

  function endTrial(): void {
    if (!isTrial) return;
    isTrial = false;
    beginNext();
  }

  function holdBack(leftMs: number): void {
    isTrial = true;
    const impatient = waiting.filter((job) => !isPatient(job));
    waiting = waiting.filter(isPatient);
    for (const job of impatient) onPaused(job, leftMs);
    // It can end before its time.
    if (waiting.length > 0) callOff = clock.after(Math.min(leftMs, LONGEST_HOLD_MS), beginNext);
  }

  return {
    add(job) {
      waiting = [...waiting, job];
      beginNext();
    },
    remove(job) {
      const rest = waiting.filter((other) => other !== job);
      const isThere = rest.length < waiting.length;
      waiting = rest;
      return isThere;
    },
    close() {
      isClosed = true;
      callOff();
    },
  };
}

/** Tells the owner of jobs of one time that were missed: nobody else would ever hear of them again. */

import type { InboundId } from "../core/messages.ts";
import type { Log } from "../core/platform.ts";
import type { Job } from "../core/schedule.ts";
import { jobsMissed } from "../lib/phrases.ts";
import { showMoment } from "../lib/zoned-time.ts";
import { slotId } from "./job-message.ts";

export interface MissedJobsOptions {
  /** Once for each `id`. */
  readonly tellOwner: (text: string, id: string) => Promise<void>;
  readonly log: Log;
  readonly timeZone: string;
  /** Those that were missed are told of now. */
  readonly onTold: () => void;
}

export interface MissedJobs {
  /** Whether the owner was told of it. Otherwise `tell` does. */
  isTold(job: Job, slotMs: number): boolean;
  /** Begins to tell of all that were asked for since, in one message. What fails is told when it is asked for again. */
  tell(): void;
}

export function createMissedJobs({ tellOwner, log, timeZone, onTold }: MissedJobsOptions): MissedJobs {
  const told = new Set<InboundId>();
  let missed = new Map<InboundId, { readonly job: Job; readonly slotMs: number }>();
  let isTelling = false;

  async function tellOf(ones: typeof missed): Promise<void> {
    const [first] = ones.keys();
    const jobs = [...ones.values()].map(({ job: { name, message }, slotMs }) => ({
      name,
      message,
      dueAt: showMoment(slotMs, timeZone),
    }));
    try {
      await tellOwner(jobsMissed(jobs), `missed:${first}:${ones.size}`);
      for (const id of ones.keys()) told.add(id);
      onTold();
    } catch (error) {
      log.error("The owner was not told of jobs that were missed; it is tried again", { error });
    } finally {
      isTelling = false;
    }
  }

  return {
    isTold(job, slotMs) {
      const id = slotId(job.id, slotMs);
      // What is asked once more is recorded then.
      if (told.delete(id)) return true;
      missed.set(id, { job, slotMs });
      return false;
    },

    tell() {
      // Some were told of while others were looked at.
      const ones = new Map([...missed].filter(([id]) => !told.has(id)));
      missed = new Map();
      if (isTelling || ones.size === 0) return;
      isTelling = true;
      // Not waited for: a chat that takes nothing now must not hold up the other jobs.
      void tellOf(ones);
    },
  };
}

/** Counts the runs of jobs that come again, so that one that comes too often ends by itself. */

import type { HourlyLimits } from "../core/background.ts";
import type { Job } from "../core/schedule.ts";
import { sessionOf } from "./job-message.ts";

export interface RunAllowanceOptions {
  /** Each run counts as a task of the job's session. */
  readonly limits?: () => Promise<Pick<HourlyLimits, "task">>;
}

export interface RunAllowance {
  /** Counts a run that is about to be put, and says whether it may be. What is tried again counts once. */
  allows(job: Job): Promise<boolean>;
  /** The run that was counted is put. */
  used(jobId: string): void;
}

export function createRunAllowance({ limits }: RunAllowanceOptions): RunAllowance {
  const counted = new Set<string>();
  return {
    async allows({ id, schedule }) {
      // What has one time is no loop, and left out it would be lost.
      if (limits === undefined || schedule.kind === "at" || counted.has(id)) return true;
      if ((await limits()).task(sessionOf(id)) !== undefined) return false;
      counted.add(id);
      return true;
    },

    used: (jobId) => void counted.delete(jobId),
  };
}

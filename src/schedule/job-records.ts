/** What is to be recorded of jobs, kept until it is on disk: a file that cannot be written now makes no job run twice. */

import type { Log } from "../core/platform.ts";
import { problemOf } from "../lib/phrases.ts";
import type { JobRecord } from "./job-changes.ts";
import type { JobsStore } from "./jobs.ts";

/** Beyond, the oldest go: each slot is also known by its id to the bus. */
const MOST_WAITING = 10_000;

export interface JobRecords {
  add(record: JobRecord): void;
  /** Resolves when all that was added is on disk, or could not be written. Never rejects. */
  flush(): Promise<void>;
}

export function createJobRecords({
  jobs,
  log,
}: {
  readonly jobs: Pick<JobsStore, "record">;
  readonly log: Log;
}): JobRecords {
  let waiting: JobRecord[] = [];
  let writing: Promise<void> = Promise.resolve();
  let isFailing = false;

  async function write(): Promise<void> {
    const batch = waiting;
    if (batch.length === 0) return;
    waiting = [];
    try {
      await jobs.record(batch);
      isFailing = false;
    } catch (error) {
      waiting = [...batch, ...waiting].slice(-MOST_WAITING);
      if (!isFailing)
        log.error("Could not record what jobs did; it is tried again", { problem: problemOf(error) });
      isFailing = true;
    }
  }

  return {
    add: (record) => void waiting.push(record),
    flush() {
      writing = writing.then(write);
      return writing;
    },
  };
}

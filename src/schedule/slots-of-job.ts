/** What a job's own record says about its slots. */

import type { Job } from "../core/schedule.ts";
import { nextSlot } from "./next-run.ts";

/** A clock that was this wrong when a run was recorded must not keep a job silent until that time has come. */
export const WRONG_CLOCK_MS = 24 * 60 * 60_000;

/** The newest slot that was run or left out, as far as it can be believed. */
export function markOf({ lastRunAtMs, runs }: Job, nowMs: number): number | undefined {
  const marks = [lastRunAtMs ?? Number.NaN, ...runs.map(({ runAtMs }) => runAtMs)].filter(
    (ms) => ms <= nowMs + WRONG_CLOCK_MS,
  );
  return marks.length === 0 ? undefined : Math.max(...marks);
}

/** From which periods are counted: the same ones also when the clock was put back far since the job was made. */
export function anchorOf({ createdAtMs, schedule }: Job, nowMs: number): number {
  if (createdAtMs <= nowMs + WRONG_CLOCK_MS) return createdAtMs;
  return schedule.kind === "every" ? createdAtMs % schedule.everyMs : 0;
}

/** When it runs next, as far as can be told now. */
export function nextRunOf(
  job: Job,
  { nowMs, timeZone }: { nowMs: number; timeZone: string },
): number | undefined {
  if (!job.enabled) return undefined;
  return nextSlot(job.schedule, {
    anchorMs: anchorOf(job, nowMs),
    lastMs: markOf(job, nowMs),
    nowMs,
    timeZone,
  });
}

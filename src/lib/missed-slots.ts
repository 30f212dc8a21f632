/** Which times of jobs were missed when they are found late, and which of those are made up for. */

import type { Job } from "../core/schedule.ts";

const MINUTE_MS = 60_000;
/** Later, a slot was missed. */
const ON_TIME_MS = 10 * MINUTE_MS;
/** Later, one that was missed is not made up for. */
const GRACE_MS = 24 * 60 * MINUTE_MS;

export function isMissed(lateMs: number): boolean {
  return lateMs > ON_TIME_MS;
}

/** For how long after its time a slot of the job is still run. */
export function madeUpWithinMs({ misfire }: Pick<Job, "misfire">): number {
  return misfire === "skip" ? ON_TIME_MS : GRACE_MS;
}

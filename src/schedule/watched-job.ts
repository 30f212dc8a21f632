/** What the service knows of a job beside what the file says: up to which time nothing of it is left to do. */

import type { Job } from "../core/schedule.ts";
import { dueSlot, slotAfter } from "./next-run.ts";
import { anchorOf, markOf, WRONG_CLOCK_MS } from "./slots-of-job.ts";

/** Of a job at one look at the file. */
export interface Look {
  readonly nowMs: number;
  /** When the file was changed last. */
  readonly modifiedMs: number;
  readonly timeZone: string;
}

export interface WatchedJob {
  readonly job: Job;
  /** Slots up to here were run, left out, or are of another schedule. */
  readonly floorMs: number;
  /** The first one after that. */
  readonly firstMs: number | undefined;
  /** The slot, or the moment, that was put last. */
  readonly putMs: number | undefined;
  /** The put during which a slot was left out, and that recorded. */
  readonly notedMs: number | undefined;
}

function isSameSchedule(one: Job, other: Job): boolean {
  return one.enabled === other.enabled && JSON.stringify(one.schedule) === JSON.stringify(other.schedule);
}

/** What lies before somebody wrote or switched a job was not meant, and is not made up for. */
function floorOf(job: Job, { nowMs, modifiedMs }: Look, before: WatchedJob | "start" | "new"): number {
  const mark = markOf(job, nowMs) ?? Number.NEGATIVE_INFINITY;
  const known = typeof before === "object" ? Math.max(before.floorMs, mark) : mark;
  // It has one slot, which counts whenever it was written.
  if (job.schedule.kind === "at") return known;
  const edited = Math.min(nowMs, modifiedMs);
  if (typeof before === "object") return isSameSchedule(before.job, job) ? known : Math.max(known, edited);
  const made = Math.max(job.createdAtMs, job.updatedAtMs);
  if (before === "new" || (known === Number.NEGATIVE_INFINITY && made === 0))
    return Math.max(known, made, edited);
  return Math.max(known, made);
}

/** `before` is what was known of it, or how it was come upon: when the service began, or later. */
export function watchJob(job: Job, look: Look, before: WatchedJob | "start" | "new"): WatchedJob {
  const known = typeof before === "object" ? before : undefined;
  if (known?.job === job && known.floorMs <= look.nowMs + WRONG_CLOCK_MS) return known;
  const floor = floorOf(job, look, before);
  // The clock was put back far: what was run by the wrong one is no reason to be silent until then.
  const floorMs = floor > look.nowMs + WRONG_CLOCK_MS ? look.nowMs : floor;
  const isSame = known !== undefined && known.floorMs === floorMs && isSameSchedule(known.job, job);
  const puts = [known?.putMs, job.lastRunAtMs].filter((ms) => ms !== undefined);
  return {
    job,
    floorMs,
    firstMs: isSame ? known.firstMs : firstAfter(job, floorMs, look),
    putMs: puts.length === 0 ? undefined : Math.max(...puts),
    notedMs: known?.notedMs,
  };
}

function firstAfter(job: Job, ms: number, { nowMs, timeZone }: Look): number | undefined {
  return slotAfter(job.schedule, ms, { anchorMs: anchorOf(job, nowMs), timeZone });
}

/** Nothing is left to do up to `slotMs`. */
export function passed(watched: WatchedJob, slotMs: number, look: Look): WatchedJob {
  const floorMs = Math.max(watched.floorMs, slotMs);
  return { ...watched, floorMs, firstMs: firstAfter(watched.job, floorMs, look) };
}

/** The newest slot that has come and is left to do. */
export function dueOf({ job, floorMs, firstMs }: WatchedJob, { nowMs, timeZone }: Look): number | undefined {
  if (!job.enabled || firstMs === undefined || firstMs > nowMs) return undefined;
  return dueSlot(job.schedule, { anchorMs: anchorOf(job, nowMs), lastMs: floorMs, nowMs, timeZone });
}

/** When a job runs: pure functions of its schedule, the zone, its anchor and its last run. */

import { UserError } from "../core/errors.ts";
import type { Schedule } from "../core/schedule.ts";
import { quote } from "../lib/file-error.ts";
import { nearest } from "../lib/nearest.ts";
import { isTimeZone, showMoment } from "../lib/zoned-time.ts";
import { expressionProblem, timeAfter } from "./cron-expression.ts";

/** Expressions come to whole seconds. */
const SECOND_MS = 1_000;
const SHORTEST_PERIOD_MS = SECOND_MS;
const HOUR_MS = 60 * 60 * SECOND_MS;
/** Beyond, a number is a mistake: mostly one in other units. */
const FARTHEST_MS = 100 * 366 * 24 * 60 * 60_000;
const LONGEST_ZONE = 100;

const EXAMPLES =
  'Five fields, as in "0 9 * * 1-5" (workdays at nine) or "*/15 * * * *", or six with seconds first';

export interface SlotContext {
  /** Periods are counted from it; no slot is before or at it. In milliseconds since the epoch, like every time here. */
  readonly anchorMs: number;
  /** The newest slot that was run, or left out. */
  readonly lastMs?: number | undefined;
  readonly nowMs: number;
  /** Of expressions without one. */
  readonly timeZone: string;
}

/** The first slot later than `ms`, whatever the time is now. */
export function slotAfter(
  schedule: Schedule,
  ms: number,
  { anchorMs, timeZone }: Pick<SlotContext, "anchorMs" | "timeZone">,
): number | undefined {
  switch (schedule.kind) {
    case "at":
      return schedule.atMs > ms ? schedule.atMs : undefined;
    case "every": {
      const { everyMs } = schedule;
      const count = Math.max(0, Math.floor((ms - anchorMs) / everyMs));
      return anchorMs + (count + 1) * everyMs;
    }
    case "cron":
      return timeAfter(schedule.expr, schedule.tz ?? timeZone, Math.max(ms, anchorMs));
  }
}

/** The first slot that is yet to come and was not run. */
export function nextSlot(schedule: Schedule, context: SlotContext): number | undefined {
  const { lastMs = Number.NEGATIVE_INFINITY, nowMs } = context;
  return slotAfter(schedule, Math.max(nowMs, lastMs), context);
}

/** The newest slot that has come and was not run. The older ones are made up for by it, or by none. */
export function dueSlot(schedule: Schedule, context: SlotContext): number | undefined {
  const { anchorMs, lastMs = Number.NEGATIVE_INFINITY, nowMs } = context;
  if (schedule.kind === "at") {
    const { atMs } = schedule;
    return atMs <= nowMs && atMs > lastMs ? atMs : undefined;
  }
  // Times before 1970 are of no clock that goes right.
  let before = Math.max(lastMs, anchorMs, 0);
  const first = slotAfter(schedule, before, context);
  if (first === undefined || first > nowMs) return undefined;
  if (schedule.kind === "every")
    return anchorMs + Math.floor((nowMs - anchorMs) / schedule.everyMs) * schedule.everyMs;
  // Between a time after which one comes and a time after which none does.
  let behind = nowMs;
  while (behind - before > SECOND_MS) {
    const middle = Math.floor((before + behind) / 2);
    const next = slotAfter(schedule, middle, context);
    if (next !== undefined && next <= nowMs) before = middle;
    else behind = middle;
  }
  return slotAfter(schedule, before, context);
}

function isZone(tz: string | undefined): boolean {
  return tz === undefined || (tz.length <= LONGEST_ZONE && isTimeZone(tz));
}

/** How often it comes in the hour that begins with its first time. */
export function timesInHour(
  schedule: Schedule,
  { nowMs, timeZone }: Pick<SlotContext, "nowMs" | "timeZone">,
): number {
  if (schedule.kind === "every") return Math.ceil(HOUR_MS / schedule.everyMs);
  const context = { anchorMs: nowMs, timeZone };
  const first = slotAfter(schedule, nowMs, context);
  let times = 0;
  for (let slot = first; slot !== undefined && slot < (first ?? slot) + HOUR_MS; times++)
    slot = slotAfter(schedule, slot, context);
  return times;
}

/** What is wrong with a schedule at any time, in words; `undefined` when nothing is. */
export function scheduleProblem(schedule: Schedule): string | undefined {
  switch (schedule.kind) {
    case "at":
      // What a Date can hold.
      return Math.abs(schedule.atMs) <= 8.64e15 ? undefined : "its time is out of all bounds";
    case "every":
      if (!(schedule.everyMs >= SHORTEST_PERIOD_MS)) return "its period is shorter than a second";
      return schedule.everyMs <= FARTHEST_MS ? undefined : "its period is longer than 100 years";
    case "cron": {
      const { expr, tz } = schedule;
      return isZone(tz) ? expressionProblem(expr) : `there is no time zone ${quote(tz ?? "")}`;
    }
  }
}

function zoneHint(tz: string): string {
  if (/^[+-]/.test(tz))
    return "An offset is none, since it knows no summer time: name one, as in Europe/Berlin";
  const meant = nearest(tz, Intl.supportedValuesOf("timeZone"));
  return meant === undefined ? "They are named as in Europe/Berlin" : `Did you mean ${quote(meant)}?`;
}

function hintOf(schedule: Schedule): { readonly hint?: string } {
  if (schedule.kind !== "cron") return {};
  const { tz } = schedule;
  return { hint: tz === undefined || isZone(tz) ? EXAMPLES : zoneHint(tz) };
}

/** Of a job that somebody makes now. Throws a `UserError` for one that would never run, or not as it was meant. */
export function checkSchedule(
  schedule: Schedule,
  { nowMs, timeZone }: Pick<SlotContext, "nowMs" | "timeZone">,
): void {
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) throw new UserError(`Cannot use the schedule: ${problem}`, hintOf(schedule));
  if (schedule.kind === "at" && schedule.atMs <= nowMs) {
    throw new UserError(
      `Cannot use the schedule: ${showMoment(schedule.atMs, timeZone)} has passed already`,
      {
        hint: `It is ${showMoment(nowMs, timeZone)} now`,
      },
    );
  }
  const next = nextSlot(schedule, { anchorMs: nowMs, nowMs, timeZone });
  if (next === undefined)
    throw new UserError("Cannot use the schedule: its time never comes", hintOf(schedule));
  if (next - nowMs > FARTHEST_MS)
    throw new UserError("Cannot use the schedule: it begins in more than 100 years", hintOf(schedule));
}

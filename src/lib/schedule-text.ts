/** Schedules as people write and read them. */

import type { Job, Schedule } from "../core/schedule.ts";
import { madeUpWithinMs } from "./missed-slots.ts";
import { oneLine } from "./text.ts";
import { showMoment } from "./zoned-time.ts";

const LONGEST_EXPRESSION = 200;

const units: readonly (readonly [letter: string, ms: number, name: string])[] = [
  ["w", 7 * 24 * 60 * 60_000, "week"],
  ["d", 24 * 60 * 60_000, "day"],
  ["h", 60 * 60_000, "hour"],
  ["m", 60_000, "minute"],
  ["s", 1_000, "second"],
];

/** `90s`, `10m`, `2h`, `1d`, `1h30m`, and a number alone as seconds, in milliseconds. `undefined` for anything else. */
export function parsePeriod(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase();
  if (/^\d{1,12}$/.test(trimmed)) return Number(trimmed) * 1_000;
  if (!/^(?:\d{1,9}[wdhms])+$/.test(trimmed)) return undefined;
  let ms = 0;
  for (const [, count, letter] of trimmed.matchAll(/(\d+)([wdhms])/g))
    ms += Number(count) * (units.find(([unit]) => unit === letter)?.[1] ?? 0);
  return ms;
}

/** As in `10 minutes` and `1 hour 30 minutes`. */
function showPeriod(ms: number): string {
  const parts: string[] = [];
  let left = ms;
  for (const [, unitMs, name] of units) {
    const count = Math.floor(left / unitMs);
    left -= count * unitMs;
    if (count > 0) parts.push(`${count} ${name}${count === 1 ? "" : "s"}`);
  }
  if (left > 0 || parts.length === 0) parts.push(`${left} ms`);
  return parts.join(" ");
}

/** One line: `every 10 minutes`, `0 9 * * * (Europe/Berlin)`, `at 2026-11-30 09:00 (Europe/Berlin)`. */
export function showSchedule(schedule: Schedule, timeZone: string): string {
  switch (schedule.kind) {
    case "at":
      return `at ${showMoment(schedule.atMs, timeZone)}`;
    case "every":
      return `every ${showPeriod(schedule.everyMs)}`;
    case "cron":
      return `${oneLine(schedule.expr, LONGEST_EXPRESSION)} (${oneLine(schedule.tz ?? timeZone, 100)})`;
  }
}

export interface NextContext {
  readonly nowMs: number;
  readonly timeZone: string;
  /** Whether a gateway keeps the time now. */
  readonly isKept: boolean;
}

/** When it runs next, or what becomes of the one time it has. */
export function showNext(job: Job, { nowMs, timeZone, isKept }: NextContext): string {
  const { enabled, nextRunAtMs, schedule, lastRunAtMs = Number.NEGATIVE_INFINITY } = job;
  if (!enabled) return "disabled";
  if (nextRunAtMs !== undefined) return `next run ${showMoment(nextRunAtMs, timeZone)}`;
  if (schedule.kind !== "at") return "does not run again";
  if (lastRunAtMs >= schedule.atMs) return "begun, and not ended yet";
  const untilMs = schedule.atMs + madeUpWithinMs(job);
  if (nowMs > untilMs) return "missed; not made up for";
  return isKept
    ? "due now"
    : `missed; made up for when a gateway starts before ${showMoment(untilMs, timeZone)}`;
}

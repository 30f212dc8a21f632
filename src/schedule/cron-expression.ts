/** Cron expressions in a time zone: croner knows the calendar, and what a change of the clock means is decided here. */

import { Cron } from "croner";
import { quote } from "../lib/file-error.ts";
import { momentOf, wallOf } from "../lib/zoned-time.ts";

const LONGEST_EXPRESSION = 200;
/** Expressions that are kept read, so that asking again costs little. */
const MOST_KEPT = 200;
/** A nickname, or five fields, or six of which the first are seconds. A date, which croner takes too, is none of them. */
const EXPRESSION = /^\s*(?:@[a-z]+|[^\s@]+(?:\s+[^\s@]+){4,5})\s*$/i;

const kept = new Map<string, Cron>();

/** Without a zone as if every clock showed UTC. Throws what croner says of an expression that is none. */
function read(expr: string, timeZone?: string): Cron {
  const key = `${timeZone ?? ""}\n${expr}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const zone = timeZone === undefined ? { utcOffset: 0 } : { timezone: timeZone };
  const cron = new Cron(expr, { ...zone, paused: true, mode: "5-or-6-parts" });
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(key, cron);
  return cron;
}

/** Whether it names times of the day one by one, and does not say "every". */
function hasFixedTimes(expr: string): boolean {
  const fields = expr.trim().split(/\s+/);
  const [nickname = ""] = fields;
  if (fields.length === 1) return nickname.toLowerCase() !== "@hourly";
  return fields.slice(0, fields.length - 3).every((field) => !/[*?/]/.test(field));
}

/**
 * The first match later than `ms`. Fixed times are the clock's on the wall and come once a day: where that shows one
 * twice the first time, and where it leaves one out at the moment it is put forward. (croner leaves out those that
 * another day begins in the place of.) What says "every" goes on evenly. `undefined` when none ever comes.
 */
export function timeAfter(expr: string, timeZone: string, ms: number): number | undefined {
  if (!hasFixedTimes(expr)) {
    const next = read(expr, timeZone).nextRun(new Date(ms))?.getTime();
    return next !== undefined && next > ms ? next : undefined;
  }
  const walls = read(expr);
  for (let wall = wallOf(ms, timeZone); ; ) {
    const next = walls.nextRun(new Date(wall))?.getTime();
    if (next === undefined) return undefined;
    const moment = momentOf(next, timeZone);
    if (moment > ms) return moment;
    // Shown for the second time.
    wall = next;
  }
}

/** What is wrong with it, in words; `undefined` when nothing is. */
export function expressionProblem(expr: string): string | undefined {
  if (expr.length > LONGEST_EXPRESSION || !EXPRESSION.test(expr))
    return `${quote(expr)} is no cron expression`;
  try {
    read(expr);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error);
    return `${quote(expr)} is no cron expression (${reason})`;
  }
}

/** The times that people give as `--since`. */

import { UserError } from "../core/errors.ts";
import { quote } from "../lib/file-error.ts";
import { startOfDay } from "../lib/local-day.ts";

const HOUR_MS = 60 * 60 * 1000;
const units: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS };

/** With its zone: without one it would be a guess whose clock is meant. */
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * `24h`, `7d` and `2w` before `now`, the beginning of a day as in `2026-01-31`, or a moment as in
 * `2026-01-31T09:00Z`; `undefined` for anything else.
 */
export function parseSince(text: string, now: number, timeZone: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,6})([hdw])$/i.exec(text) ?? [];
  const unitMs = units[unit.toLowerCase()];
  if (unitMs !== undefined) return Math.max(0, now - Number(count) * unitMs);
  if (!MOMENT.test(text)) return startOfDay(text, timeZone);
  // Some engines take the 30th of February for a day of March.
  if (startOfDay(text.slice(0, 10), "UTC") === undefined) return undefined;
  const moment = Date.parse(text);
  return moment >= 0 ? moment : undefined;
}

export function requireSince(text: string, now: number, timeZone: string): number {
  const since = parseSince(text, now, timeZone);
  if (since !== undefined) return since;
  throw new UserError(`Cannot tell which time --since ${quote(text)} means`, {
    hint: "Say how long ago (24h, 7d, 2w), a day (2026-11-30) or a moment (2026-11-30T09:00Z)",
  });
}

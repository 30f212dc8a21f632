import { expect, test } from "bun:test";
import type { Job } from "../../src/core/schedule.ts";
import { type NextContext, parsePeriod, showNext, showSchedule } from "../../src/lib/schedule-text.ts";

test.each([
  ["90s", 90_000],
  ["10m", 600_000],
  ["2h", 7_200_000],
  ["1d", 86_400_000],
  ["1w", 604_800_000],
  ["1h30m", 5_400_000],
  ["3600", 3_600_000],
  [" 5M ", 300_000],
])("parsePeriod() reads %j", (text, ms) => {
  expect(parsePeriod(text)).toBe(ms);
});

test.each(["", "soon", "-5m", "1.5h", "5 m", "10x", "m10", "1e3"])("parsePeriod() refuses %j", (text) => {
  expect(parsePeriod(text)).toBeUndefined();
});

test("showSchedule() says when in a line", () => {
  const of = (schedule: Parameters<typeof showSchedule>[0]) => showSchedule(schedule, "Europe/Berlin");
  expect(of({ kind: "every", everyMs: 600_000 })).toBe("every 10 minutes");
  expect(of({ kind: "every", everyMs: 90_061_001 })).toBe("every 1 day 1 hour 1 minute 1 second 1 ms");
  expect(of({ kind: "cron", expr: "0 9 * * *" })).toBe("0 9 * * * (Europe/Berlin)");
  expect(of({ kind: "cron", expr: "0 9\u001b[1m * * *", tz: "Asia/Tokyo" })).toBe("0 9 * * * (Asia/Tokyo)");
  expect(of({ kind: "at", atMs: Date.parse("2026-11-30T08:00:00Z") })).toBe(
    "at 2026-11-30 09:00 (Europe/Berlin)",
  );
});

const NINE = Date.parse("2026-11-30T09:00:00Z");
const HOUR = 3_600_000;

const once: Job = {
  id: "a",
  name: "Tea",
  enabled: true,
  schedule: { kind: "at", atMs: NINE },
  message: "Make tea",
  deliver: false,
  misfire: "once",
  deleteAfterRun: true,
  nextRunAtMs: undefined,
  lastRunAtMs: undefined,
  lastStatus: undefined,
  lastError: undefined,
  runs: [],
  createdAtMs: 0,
  updatedAtMs: 0,
};

test.each<[string, Partial<Job>, Partial<NextContext>, string]>([
  ["is yet to come", { nextRunAtMs: NINE }, { nowMs: NINE - HOUR }, "next run 2026-11-30 09:00 (UTC)"],
  ["is disabled", { enabled: false }, {}, "disabled"],
  ["came just now", {}, {}, "due now"],
  [
    "waits for a gateway",
    {},
    { isKept: false },
    "missed; made up for when a gateway starts before 2026-12-01 09:00 (UTC)",
  ],
  [
    "waits for a gateway, and not for long",
    { misfire: "skip" },
    { isKept: false, nowMs: NINE + 60_000 },
    "missed; made up for when a gateway starts before 2026-11-30 09:10 (UTC)",
  ],
  ["was missed for good", { misfire: "skip" }, {}, "missed; not made up for"],
  ["is a day old", {}, { nowMs: NINE + 25 * HOUR, isKept: false }, "missed; not made up for"],
  ["runs", { lastRunAtMs: NINE }, {}, "begun, and not ended yet"],
  ["never comes", { schedule: { kind: "cron", expr: "0 0 30 2 *" } }, {}, "does not run again"],
])("showNext() says what becomes of a job that %s", (_, changes, context, expected) => {
  const now = { nowMs: NINE + HOUR, timeZone: "UTC", isKept: true, ...context };
  expect(showNext({ ...once, ...changes }, now)).toBe(expected);
});

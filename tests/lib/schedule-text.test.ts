import { expect, test } from "bun:test";
import { parsePeriod, showSchedule } from "../../src/lib/schedule-text.ts";

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

import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseSince, requireSince } from "../../src/cli/since.ts";
import { createDayOf } from "../../src/lib/local-day.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const HOUR = 60 * 60 * 1000;

test("parseSince() takes hours, days and weeks", () => {
  expect(parseSince("24h", NOW, "UTC")).toBe(NOW - 24 * HOUR);
  expect(parseSince("7d", NOW, "UTC")).toBe(NOW - 7 * 24 * HOUR);
  expect(parseSince("2W", NOW, "UTC")).toBe(NOW - 14 * 24 * HOUR);
});

test("parseSince() goes back no further than time does", () => {
  expect(parseSince("999999w", NOW, "UTC")).toBe(0);
});

test("parseSince() takes a day as the time zone has it", () => {
  expect(parseSince("2026-11-01", NOW, "UTC")).toBe(Date.parse("2026-11-01T00:00:00Z"));
  expect(parseSince("2026-11-01", NOW, "Europe/Berlin")).toBe(Date.parse("2026-10-31T23:00:00Z"));
});

test("parseSince() takes a moment that names its zone", () => {
  expect(parseSince("2026-11-30T09:00Z", NOW, "UTC")).toBe(NOW - 3 * HOUR);
  expect(parseSince("2026-11-30T09:00:30.250+01:00", NOW, "UTC")).toBe(NOW - 4 * HOUR + 30_250);
});

test("parseSince() refuses what is neither", () => {
  for (const text of [
    "",
    "7",
    "d",
    "-7d",
    "7m",
    "1.5d",
    "7d ago",
    "2026-02-30",
    "2026-11",
    "2026-11-30T09:00",
    "2026-02-30T09:00Z",
    "2026-11-30T25:00Z",
    "1969-12-31T23:00Z",
    "9".repeat(400),
  ]) {
    expect(parseSince(text, NOW, "UTC")).toBeUndefined();
  }
});

test("parseSince() takes any text, and answers with a time that has a day", () => {
  const near = fc.stringMatching(/^[-+ ]?\d{0,8}[hdwm:T -]?\d{0,3}-?\d{0,3}$/);
  const moment = fc.stringMatching(/^[12]\d{3}-[01]\d-[0-3]\dT[0-3]\d:\d\d(Z|[+-]\d\d:\d\d)$/);
  const dayOf = createDayOf("UTC");
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), near, moment), (text) => {
      const since = parseSince(text, NOW, "UTC");
      if (since === undefined) return;
      expect(since).toBeGreaterThanOrEqual(0);
      expect(dayOf(since)).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    }),
  );
});

test("requireSince() says what can be said", () => {
  expect(() => requireSince("soon", NOW, "UTC")).toThrow('Cannot tell which time --since "soon" means');
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { createDayOf, startOfDay } from "../../src/lib/local-day.ts";

const zones = [
  "UTC",
  "Europe/Berlin",
  "America/Sao_Paulo",
  "Asia/Kathmandu",
  "Pacific/Kiritimati",
  "Etc/GMT+12",
];
const times = fc.integer({ min: Date.parse("2012-01-01"), max: Date.parse("2100-01-01") });

test("createDayOf() gives the day of the zone", () => {
  expect(createDayOf("UTC")(Date.parse("2026-11-30T23:59:59Z"))).toBe("2026-11-30");
  expect(createDayOf("Asia/Kathmandu")(Date.parse("2026-11-30T18:14:59Z"))).toBe("2026-11-30");
  expect(createDayOf("Asia/Kathmandu")(Date.parse("2026-11-30T18:15:00Z"))).toBe("2026-12-01");
});

test("createDayOf() gives the same day whatever it was asked before", () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.array(times), (zone, list) => {
      const dayOf = createDayOf(zone);
      for (const ms of list) expect(dayOf(ms)).toBe(createDayOf(zone)(ms));
    }),
  );
});

test("startOfDay() is the first minute of its day", () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), times, (zone, ms) => {
      const dayOf = createDayOf(zone);
      const day = dayOf(ms);
      const start = startOfDay(day, zone) ?? Number.NaN;
      expect(dayOf(start)).toBe(day);
      expect(dayOf(start - 60_000) < day).toBe(true);
    }),
  );
});

test("startOfDay() finds the beginning of a day without a midnight", () => {
  expect(startOfDay("2018-11-04", "America/Sao_Paulo")).toBe(Date.parse("2018-11-04T03:00:00Z"));
});

test("startOfDay() refuses days that do not exist", () => {
  for (const day of ["2026-02-30", "2026-13-01", "2026-00-10", "1969-12-31", "2026-1-1", "today", ""]) {
    expect(startOfDay(day, "UTC")).toBeUndefined();
  }
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { createMomentOf } from "../../../src/memory/search/moments.ts";

const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());

test.each([
  ["2026-03-01T09:30:00.000Z", "2026-03-01T09:30:00.000Z"],
  ["2026-03-01T09:30:00+02:00", "2026-03-01T07:30:00.000Z"],
  ["2026-03-01T09:30:00.123456", "2026-03-01T08:30:00.123Z"],
  ["2026-03-01 09:30", "2026-03-01T08:30:00.000Z"],
  ["2026-03-01", "2026-02-28T23:00:00.000Z"],
  ["2026-07-01 09:30", "2026-07-01T07:30:00.000Z"],
  ["2026-03-29 01:59", "2026-03-29T00:59:00.000Z"],
  ["2026-03-29 03:00", "2026-03-29T01:00:00.000Z"],
  ["soon", undefined],
  ["2026-13-01 09:30", undefined],
  ["2026-03-01 25:30", undefined],
  ["", undefined],
])("momentOf() reads %j in Berlin", (stored, moment) => {
  expect(iso(createMomentOf("Europe/Berlin")(stored))).toBe(moment);
});

test("momentOf() reads what is stored without a zone as the zone writes it", () => {
  const zones = fc.constantFrom(
    "UTC",
    "Asia/Tokyo",
    "America/St_Johns",
    "Asia/Kathmandu",
    "America/New_York",
  );
  const days = fc.integer({ min: 0, max: 20_000 });
  fc.assert(
    fc.property(zones, fc.array(days, { minLength: 1 }), (timeZone, list) => {
      const momentOf = createMomentOf(timeZone);
      const write = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" });
      for (const day of list) {
        // At noon no clock is changed.
        const ms = Math.floor(day * 86_400_000 + 12 * 3_600_000);
        const stored = `${write.format(ms).slice(0, 10)} 12:00`;
        expect(write.format(momentOf(stored))).toBe(stored);
      }
    }),
  );
});

test("momentOf() keeps to its zone from line to line", () => {
  const momentOf = createMomentOf("Europe/Berlin");
  const read = ["2026-03-29 01:30", "2026-03-29 03:30", "2026-03-29 01:45", "2026-03-29T12:00:00Z"].map(
    momentOf,
  );
  expect(read.map(iso)).toEqual([
    "2026-03-29T00:30:00.000Z",
    "2026-03-29T01:30:00.000Z",
    "2026-03-29T00:45:00.000Z",
    "2026-03-29T12:00:00.000Z",
  ]);
});

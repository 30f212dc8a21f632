import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isTimeZone, momentOf, parseMoment, showMoment, wallOf } from "../../src/lib/zoned-time.ts";

const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());

describe("parseMoment()", () => {
  test.each([
    ["2026-11-30T09:00:00", "Europe/Berlin", "2026-11-30T08:00:00.000Z"],
    ["2026-11-30 09:00", "Europe/Berlin", "2026-11-30T08:00:00.000Z"],
    ["2026-11-30", "Asia/Tokyo", "2026-11-29T15:00:00.000Z"],
    ["2026-07-01T09:00", "Europe/Berlin", "2026-07-01T07:00:00.000Z"],
    ["2026-07-01T09:00:05.25", "UTC", "2026-07-01T09:00:05.000Z"],
    ["2026-07-01T09:00Z", "Asia/Tokyo", "2026-07-01T09:00:00.000Z"],
    ["2026-07-01t09:00z", "Asia/Tokyo", "2026-07-01T09:00:00.000Z"],
    ["2026-07-01T09:00+05:30", "Asia/Tokyo", "2026-07-01T03:30:00.000Z"],
    ["2026-07-01T09:00-0500", "Asia/Tokyo", "2026-07-01T14:00:00.000Z"],
    // Left out, and shown twice.
    ["2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:00:00.000Z"],
    ["2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00.000Z"],
    ["2026-10-04T02:15", "Australia/Lord_Howe", "2026-10-03T15:30:00.000Z"],
  ])("reads %j in %s", (text, timeZone, expected) => {
    expect(iso(parseMoment(text, timeZone))).toBe(expected);
  });

  test.each([
    "",
    "tomorrow",
    "09:00",
    "2026-02-30T09:00",
    "2026-13-01",
    "2026-11-30T24:00",
    "2026-11-30T09:60",
    "2026-11-30T09:00+25:00",
    "2026-11-30T09:00 Europe/Berlin",
    "1796029200000",
    "30.11.2026",
  ])("refuses %j", (text) => {
    expect(parseMoment(text, "UTC")).toBeUndefined();
  });
});

test("momentOf() undoes wallOf(), but for the hour that is shown twice", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4_000_000_000 }),
      fc.constantFrom("UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Nuuk", "Asia/Kathmandu"),
      (second, timeZone) => {
        const ms = second * 1_000;
        const wall = wallOf(ms, timeZone);
        const back = momentOf(wall, timeZone);
        expect(wallOf(back, timeZone)).toBe(wall);
        expect(back).toBeLessThanOrEqual(ms);
        expect(ms - back).toBeLessThanOrEqual(2 * 60 * 60_000);
      },
    ),
  );
});

test("showMoment() shows the clock on the wall, with its zone", () => {
  const ms = Date.parse("2026-11-30T23:05:00Z");
  expect(showMoment(ms, "Asia/Tokyo")).toBe("2026-12-01 08:05 (Asia/Tokyo)");
  expect(showMoment(ms + 7_000, "UTC")).toBe("2026-11-30 23:05:07 (UTC)");
});

test("isTimeZone() knows zones, however many are asked for", () => {
  for (let count = 0; count < 50; count++) {
    expect(isTimeZone("Europe/Berlin")).toBe(true);
    expect(isTimeZone(`Mars/Olympus${count}`)).toBe(false);
  }
  for (const name of ["", " ", "Europe", "__proto__", "+02:00", "-0500", "+00"])
    expect(isTimeZone(name)).toBe(false);
});

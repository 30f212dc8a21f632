import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { UserError } from "../../src/core/errors.ts";
import type { Schedule } from "../../src/core/schedule.ts";
import {
  checkSchedule,
  dueSlot,
  nextSlot,
  scheduleProblem,
  slotAfter,
  timesInHour,
} from "../../src/schedule/next-run.ts";
import { clockChanges, evenSlots, type Fields, fixedSlots } from "./wall-clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 366 * DAY;

const utc = (text: string) => Date.parse(text);

/** All slots of a time, one after the other as they are found. */
function slots(schedule: Schedule, from: number, until: number, timeZone = "UTC"): number[] {
  const found: number[] = [];
  let ms = from - 1;
  for (;;) {
    const next = slotAfter(schedule, ms, { anchorMs: 0, timeZone });
    if (next === undefined || next >= until) return found;
    if (next <= ms) throw new Error(`${next} is not later than ${ms}`);
    found.push(next);
    ms = next;
  }
}

const cron = (expr: string, tz?: string): Schedule => ({
  kind: "cron",
  expr,
  ...(tz === undefined ? {} : { tz }),
});
const iso = (all: readonly number[]) => all.map((ms) => new Date(ms).toISOString());

describe("nextSlot() of an expression", () => {
  test("is of the job's zone, else of the agent's, whatever the machine's is (B053)", () => {
    const nowMs = utc("2026-11-30T12:00:00Z");
    const at = (schedule: Schedule, timeZone: string) => nextSlot(schedule, { anchorMs: 0, nowMs, timeZone });
    expect(at(cron("0 9 * * *", "Asia/Tokyo"), "America/New_York")).toBe(utc("2026-12-01T00:00:00Z"));
    expect(at(cron("0 9 * * *"), "Asia/Tokyo")).toBe(utc("2026-12-01T00:00:00Z"));
    expect(at(cron("0 9 * * *"), "UTC")).toBe(utc("2026-12-01T09:00:00Z"));
  });

  test("is never quiet when the clock is put back, and comes to no second twice (B054)", () => {
    const from = utc("2025-10-26T00:59:55Z");
    const everySecond = slots(cron("* * * * * *"), from, from + 2 * HOUR, "Europe/Vienna");
    expect(everySecond).toEqual(Array.from({ length: 2 * 60 * 60 }, (_, second) => from + second * 1_000));
    const every5 = slots(cron("*/5 * * * *"), from, from + 4 * HOUR, "Europe/Vienna");
    expect(every5).toEqual(
      Array.from({ length: 48 }, (_, at) => utc("2025-10-26T01:00:00Z") + at * 5 * MINUTE),
    );
  });

  test("comes once on the days on which the clock is put forward and back (B054)", () => {
    const daily = cron("30 2 * * *");
    const of = (day: string) =>
      iso(slots(daily, utc(`${day}T12:00:00Z`), utc(`${day}T12:00:00Z`) + 3 * DAY, "Europe/Berlin"));
    expect(of("2026-03-27")).toEqual([
      "2026-03-28T01:30:00.000Z",
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
    expect(of("2026-10-23")).toEqual([
      "2026-10-24T00:30:00.000Z",
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ]);
  });

  test("comes also where another day begins in the place of the hour that is left out", () => {
    const found = slots(
      cron("30 23 * * *"),
      utc("2026-03-27T12:00:00Z"),
      utc("2026-03-30T12:00:00Z"),
      "America/Nuuk",
    );
    expect(iso(found)).toEqual([
      "2026-03-28T01:30:00.000Z",
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
  });

  const zones = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
    "Pacific/Chatham",
    "America/Nuuk",
    "America/Santiago",
    "Antarctica/Troll",
    "Africa/Casablanca",
    "Africa/Cairo",
  ];
  const wallClock: readonly (readonly [string, Fields, typeof fixedSlots])[] = [
    ["30 2 * * *", { minutes: [30], hours: [2] }, fixedSlots],
    ["0 0 * * *", { minutes: [0], hours: [0] }, fixedSlots],
    ["@daily", { minutes: [0], hours: [0] }, fixedSlots],
    ["45 1,2,23 * * 0", { minutes: [45], hours: [1, 2, 23], weekdays: [0] }, fixedSlots],
    ["0-3 2-3 1,29 * 6", { minutes: [0, 1, 2, 3], hours: [2, 3], days: [1, 29], weekdays: [6] }, fixedSlots],
    [
      "*/15 * * * *",
      { minutes: [0, 15, 30, 45], hours: Array.from({ length: 24 }, (_, hour) => hour) },
      evenSlots,
    ],
    ["20 */2 * * *", { minutes: [20], hours: Array.from({ length: 12 }, (_, hour) => hour * 2) }, evenSlots],
  ];

  test.each(zones)(
    "is what the wall of %s shows, minute by minute, around each change of its clock",
    (timeZone) => {
      const changes = clockChanges(timeZone, utc("2026-01-01T00:00:00Z"), utc("2027-01-01T00:00:00Z"));
      for (const change of [utc("2026-02-28T12:00:00Z"), ...changes]) {
        const [from, until] = [change - 1.5 * DAY, change + 1.5 * DAY];
        for (const [expr, fields, expected] of wallClock)
          expect([expr, iso(slots(cron(expr), from, until, timeZone))]).toEqual([
            expr,
            iso(expected(timeZone, fields, from, until)),
          ]);
      }
    },
  );

  test("never comes where there is no such day", () => {
    for (const expr of ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *"])
      expect(
        nextSlot(cron(expr), { anchorMs: 0, nowMs: utc("2026-11-30T12:00:00Z"), timeZone: "UTC" }),
      ).toBeUndefined();
  });
});

describe("nextSlot() of a period", () => {
  test("is the next multiple from the anchor, whenever it is asked (B059)", () => {
    const schedule: Schedule = { kind: "every", everyMs: MINUTE };
    const next = (nowMs: number, lastMs?: number) =>
      nextSlot(schedule, { anchorMs: 7, lastMs, nowMs, timeZone: "UTC" });
    expect(next(7)).toBe(MINUTE + 7);
    expect(next(MINUTE + 6)).toBe(MINUTE + 7);
    expect(next(MINUTE + 7)).toBe(2 * MINUTE + 7);
    expect(next(MINUTE + 3_000)).toBe(2 * MINUTE + 7);
    expect(next(0)).toBe(MINUTE + 7);
    expect(next(MINUTE, 5 * MINUTE)).toBe(5 * MINUTE + 7);
  });

  test("may be 40 days and more away (B058)", () => {
    const context = { anchorMs: 0, nowMs: 1, timeZone: "UTC" };
    expect(nextSlot({ kind: "every", everyMs: 40 * DAY }, context)).toBe(40 * DAY);
    expect(nextSlot({ kind: "at", atMs: YEAR }, context)).toBe(YEAR);
  });
});

describe("dueSlot()", () => {
  test("is the newest of those that have come, and not one that was run", () => {
    const of = (schedule: Schedule, lastMs: number | undefined, nowMs: number) =>
      dueSlot(schedule, { anchorMs: 0, lastMs, nowMs, timeZone: "UTC" });
    expect(of({ kind: "every", everyMs: MINUTE }, MINUTE, 10.5 * MINUTE)).toBe(10 * MINUTE);
    expect(of({ kind: "every", everyMs: MINUTE }, 10 * MINUTE, 10.5 * MINUTE)).toBeUndefined();
    expect(of({ kind: "at", atMs: MINUTE }, undefined, MINUTE - 1)).toBeUndefined();
    expect(of({ kind: "at", atMs: MINUTE }, undefined, MINUTE)).toBe(MINUTE);
    expect(of({ kind: "at", atMs: MINUTE }, MINUTE, 2 * MINUTE)).toBeUndefined();
    expect(of(cron("0 22 * * *"), 0, utc("2026-11-30T21:59:59.999Z"))).toBe(utc("2026-11-29T22:00:00Z"));
    expect(of(cron("0 22 * * *"), utc("2026-11-30T22:00:00Z"), utc("2026-11-30T22:30:00Z"))).toBeUndefined();
  });
});

const zone = fc.constantFrom(
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
  "America/Nuuk",
  "Asia/Kolkata",
  "America/Santiago",
);

function field(min: number, max: number): fc.Arbitrary<string> {
  const number = fc.integer({ min, max });
  return fc.oneof(
    fc.constant("*"),
    number.map(String),
    fc.tuple(number, number).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.array(number, { minLength: 2, maxLength: 4 }).map((list) => list.join(",")),
    fc.integer({ min: 1, max: Math.max(1, max - min) }).map((step) => `*/${step}`),
  );
}

const expression = fc
  .tuple(
    fc.option(field(0, 59), { nil: undefined }),
    field(0, 59),
    field(0, 23),
    fc.oneof(fc.constant("*"), field(1, 31), fc.constant("L")),
    fc.oneof(fc.constant("*"), field(1, 12)),
    fc.oneof(fc.constant("*"), field(0, 7), fc.constantFrom("MON-FRI", "1#2", "5L")),
  )
  .map((fields) => fields.filter((value) => value !== undefined).join(" "));

/** Also near the changes of the clock. */
const moment = fc.oneof(
  fc.integer({ min: utc("2024-01-01T00:00:00Z"), max: utc("2030-01-01T00:00:00Z") }),
  fc
    .tuple(
      fc.constantFrom(
        "2026-03-29T01:00:00Z",
        "2026-10-25T01:00:00Z",
        "2026-11-01T06:00:00Z",
        "2026-04-04T15:00:00Z",
      ),
      fc.integer({ min: -2 * HOUR, max: 2 * HOUR }),
    )
    .map(([change, away]) => utc(change) + away),
);

const anySchedule: fc.Arbitrary<Schedule> = fc.oneof(
  { weight: 4, arbitrary: expression.map((expr) => cron(expr)) },
  fc.integer({ min: 1_000, max: 3 * YEAR }).map((everyMs): Schedule => ({ kind: "every", everyMs })),
  moment.map((atMs): Schedule => ({ kind: "at", atMs })),
);

describe("for any schedule, zone and time,", () => {
  test("nextSlot() is later than now, and the same however one comes to it", () => {
    fc.assert(
      fc.property(
        anySchedule,
        zone,
        moment,
        fc.integer({ min: 1, max: 3 * DAY }),
        (schedule, timeZone, nowMs, later) => {
          expect(scheduleProblem(schedule)).toBeUndefined();
          const context = { anchorMs: utc("2023-05-05T05:05:05Z"), timeZone };
          const next = nextSlot(schedule, { ...context, nowMs });
          if (next === undefined) return;
          expect(next).toBeGreaterThan(nowMs);
          // No time in between knows another one, and at its own time it is not to come any more.
          for (const between of [Math.min(nowMs + later, next - 1), next - 1])
            expect(nextSlot(schedule, { ...context, nowMs: between })).toBe(next);
          expect(nextSlot(schedule, { ...context, nowMs: next }) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(
            next,
          );
          expect(
            nextSlot(schedule, { ...context, lastMs: next, nowMs }) ?? Number.POSITIVE_INFINITY,
          ).toBeGreaterThan(next);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("dueSlot() is the slot after which the next is yet to come", () => {
    fc.assert(
      fc.property(
        anySchedule,
        zone,
        moment,
        fc.integer({ min: 0, max: 40 * DAY }),
        (schedule, timeZone, nowMs, ago) => {
          const context = { anchorMs: utc("2023-05-05T05:05:05Z"), lastMs: nowMs - ago, timeZone };
          const due = dueSlot(schedule, { ...context, nowMs });
          const first = slotAfter(schedule, nowMs - ago, context);
          if (due === undefined) {
            expect(first ?? Number.POSITIVE_INFINITY).toBeGreaterThan(nowMs);
            return;
          }
          expect(first).toBeLessThanOrEqual(due);
          expect(due).toBeLessThanOrEqual(nowMs);
          expect(slotAfter(schedule, due - 1, context)).toBe(due);
          expect(slotAfter(schedule, due, context) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(nowMs);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("timesInHour()", () => {
  test.each<[Schedule, number]>([
    [{ kind: "every", everyMs: 1_000 }, 3_600],
    [{ kind: "every", everyMs: 59_000 }, 62],
    [{ kind: "every", everyMs: MINUTE }, 60],
    [{ kind: "every", everyMs: DAY }, 1],
    [{ kind: "at", atMs: utc("2026-12-30T12:00:00Z") }, 1],
    [cron("* * * * * *"), 3_600],
    // From its first time on, which is tomorrow.
    [cron("*/10 * 9 * * *"), 360],
    [cron("0,30 9 * * * *"), 2],
    [cron("* * * * *"), 60],
    [cron("0 9 * * *"), 1],
    [cron("0 0 30 2 *"), 0],
  ])("of %j is %d", (schedule, times) => {
    expect(timesInHour(schedule, { nowMs: utc("2026-11-30T12:00:00Z"), timeZone: "UTC" })).toBe(times);
  });
});

describe("checkSchedule()", () => {
  const nowMs = utc("2026-11-30T12:00:00Z");
  const check = (schedule: Schedule) => checkSchedule(schedule, { nowMs, timeZone: "Europe/Berlin" });

  test.each<[Schedule, string]>([
    [cron("0 9 * * *", "Europe/Viena"), 'Did you mean "Europe/Vienna"?'],
    [cron("0 9 * * *", "Mars/Olympus"), "They are named as in Europe/Berlin"],
    [
      cron("0 9 * * *", "+02:00"),
      "An offset is none, since it knows no summer time: name one, as in Europe/Berlin",
    ],
  ])("hints at zones for %j, and at nothing else", (schedule, hint) => {
    expect(() => check(schedule)).toThrow(expect.objectContaining({ hint }));
  });

  test.each<[Schedule, string]>([
    [{ kind: "at", atMs: nowMs - MINUTE }, "2026-11-30 12:59 (Europe/Berlin) has passed already"],
    [{ kind: "at", atMs: nowMs }, "has passed already"],
    [{ kind: "at", atMs: nowMs * 1_000 }, "100 years"],
    [{ kind: "at", atMs: 9e15 }, "out of all bounds"],
    [{ kind: "every", everyMs: 999 }, "shorter than a second"],
    [{ kind: "every", everyMs: Number.NaN }, "shorter than a second"],
    [{ kind: "every", everyMs: -MINUTE }, "shorter than a second"],
    [{ kind: "every", everyMs: 1e15 }, "longer than 100 years"],
    [cron("0 9 * * *", "Mars/Olympus"), 'no time zone "Mars/Olympus"'],
    [cron("0 9 * * *", "x".repeat(1_000)), "no time zone"],
    [cron("0 9 * * *", "+02:00"), 'no time zone "+02:00"'],
    [cron("0 0 30 2 *"), "never comes"],
    [cron(""), "no cron expression"],
    [cron("every day"), "no cron expression"],
    [cron("61 * * * *"), "no cron expression"],
    [cron("*/0 * * * *"), "no cron expression"],
    [cron("0 9 * *"), "no cron expression"],
    [cron("0 0 9 * * * 2030"), "no cron expression"],
    [cron("2030-01-01T00:00:00"), "no cron expression"],
    [cron("@reboot"), "no cron expression"],
    [cron("@often"), "no cron expression"],
    [cron(`0 9 * * ${"1,".repeat(200)}1`), "no cron expression"],
  ])("refuses %j", (schedule, reason) => {
    expect(() => check(schedule)).toThrow(UserError);
    expect(() => check(schedule)).toThrow(reason);
  });

  test.each<[Schedule]>([
    [{ kind: "at", atMs: nowMs + 1 }],
    [{ kind: "at", atMs: nowMs + 10 * YEAR }],
    [{ kind: "every", everyMs: 1_000 }],
    [cron("0 9 * * 1-5", "Asia/Tokyo")],
    [cron("*/10 * * * * *")],
    [cron(" 0  9 * * MON ")],
    [cron("@hourly")],
    [cron("0 9 29 2 *")],
    [cron("0 9 L * *")],
  ])("takes %j", (schedule) => {
    expect(() => check(schedule)).not.toThrow();
  });
});

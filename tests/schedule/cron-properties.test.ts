import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Clock } from "../../src/core/platform.ts";
import type { Schedule } from "../../src/core/schedule.ts";
import { slotAfter } from "../../src/schedule/next-run.ts";
import { createFakeClock, type FakeClock } from "../fakes/clock.ts";
import { DAY, HOUR, MINUTE, SECOND, START, setUp } from "./cron-fixture.ts";

/** Expressions, and the shortest time between two of their slots. */
const expressions: Readonly<Record<string, number>> = {
  "* * * * * *": SECOND,
  "*/7 * * * *": 4 * MINUTE,
  "30 2 * * *": 23 * HOUR,
  "0,30 1-3 * * *": 30 * MINUTE,
  "0 9 * * 1-5": 23 * HOUR,
  "0 0 1 * *": 27 * DAY,
  "@hourly": HOUR,
};

const schedule: fc.Arbitrary<Schedule> = fc.oneof(
  fc.constantFrom(...Object.keys(expressions)).map((expr): Schedule => ({ kind: "cron", expr })),
  fc.integer({ min: SECOND, max: 3 * DAY }).map((everyMs): Schedule => ({ kind: "every", everyMs })),
  fc.integer({ min: 1, max: 3 * DAY }).map((ms): Schedule => ({ kind: "at", atMs: START + ms })),
);

function shortestGap(one: Schedule): number {
  switch (one.kind) {
    case "at":
      return Number.POSITIVE_INFINITY;
    case "every":
      return one.everyMs;
    case "cron":
      return expressions[one.expr] ?? SECOND;
  }
}

/** How often it looks at the file. */
const POLL = 30 * SECOND;

type Step =
  | { readonly kind: "pass"; readonly ms: number }
  /** Somebody sets the clock. */
  | { readonly kind: "jump"; readonly ms: number }
  | { readonly kind: "restart"; readonly downMs: number }
  | { readonly kind: "hold"; readonly isHeld: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.integer({ min: 0, max: 20 * MINUTE }).map((ms): Step => ({ kind: "pass", ms })),
  fc.integer({ min: -2 * DAY, max: 2 * DAY }).map((ms): Step => ({ kind: "jump", ms })),
  fc.integer({ min: 0, max: 2 * HOUR }).map((downMs): Step => ({ kind: "restart", downMs })),
  fc.boolean().map((isHeld): Step => ({ kind: "hold", isHeld })),
);

/** A clock on the wall that can be set, while time goes on evenly; it counts how often anybody waits. */
function createSettableClock(start: number) {
  const inner = createFakeClock(start);
  let shift = 0;
  let waits = 0;
  const clock: FakeClock = {
    ...inner,
    get pending() {
      return inner.pending;
    },
    now: () => inner.now() + shift,
    after(ms, task): ReturnType<Clock["after"]> {
      waits++;
      return inner.after(ms, task);
    },
  };
  return {
    clock,
    set(ms: number): void {
      shift += ms;
    },
    waits: () => waits,
  };
}

test("run(), for any schedule, zone and jumps of the clock, puts each slot at most once, none early, and never spins", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(schedule, { minLength: 1, maxLength: 3 }),
      fc.constantFrom("UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Nuuk"),
      fc.array(step, { maxLength: 12 }),
      async (schedules, timeZone, steps) => {
        const { clock, set, waits } = createSettableClock(START);
        const { jobs, begin, turns } = setUp({ clock, timeZone, endsTurns: false });
        const made = [];
        for (const [index, one] of schedules.entries())
          made.push(await jobs.add({ name: `${index}`, message: "x", deliver: false, schedule: one }));
        let service = await begin();
        let isHeld = false;
        /** While a service ran. */
        let passed = 0;
        let latest = clock.now();
        let wasFarBack = false;
        const endTurns = () => {
          if (!isHeld) for (const id of [...turns.pending]) turns.end(id);
        };
        for (const one of [...steps, { kind: "pass", ms: HOUR } as const]) {
          if (one.kind === "hold") isHeld = one.isHeld;
          if (one.kind === "jump") set(one.ms);
          if (one.kind === "restart") {
            await service.end();
            await clock.advance(one.downMs);
            service = await begin();
          }
          // In pieces, so that turns end in between.
          for (let left = one.kind === "pass" ? one.ms : 0; left > 0; left -= 5 * MINUTE) {
            await clock.advance(Math.min(left, 5 * MINUTE));
            latest = Math.max(latest, clock.now());
            endTurns();
            passed += Math.min(left, 5 * MINUTE);
          }
          latest = Math.max(latest, clock.now());
          wasFarBack ||= clock.now() < latest - DAY;
        }
        await clock.advance(0);
        await service.end();
        // So far back, the clock was wrong before, and only the bus knows what was run then.
        if (!wasFarBack) expect(turns.refused()).toBe(0);
        expect(new Set(turns.put.map(({ id }) => id)).size).toBe(turns.put.length);
        for (const { id, timestamp } of turns.put) {
          const [, jobId = "", slot = ""] = id.split(":");
          const job = made.find((other) => other.id === jobId);
          expect(Number(slot)).toBeLessThanOrEqual(Date.parse(timestamp));
          if (job === undefined) throw new Error(`There is no job of ${id}`);
          const kind = job.schedule.kind;
          // It is one of the schedule's own slots, counted from the same moment when that is yet to come.
          const anchorMs = kind === "every" ? job.createdAtMs % job.schedule.everyMs : 0;
          expect(slotAfter(job.schedule, Number(slot) - 1, { anchorMs, timeZone })).toBe(Number(slot));
        }
        // An alarm for each poll and each slot; for a turn also the lock of its two records, and another alarm at its end.
        const slots = schedules.reduce((sum, one) => sum + passed / shortestGap(one), 0);
        const expected = passed / POLL + slots + 4 * turns.put.length;
        // A job is made under a lock. A start and a jump wake it once, and may leave out a slot of each job, under a lock.
        const beside = schedules.length + (steps.length + 2) * (1 + schedules.length);
        expect(waits()).toBeLessThanOrEqual(expected + beside);
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);

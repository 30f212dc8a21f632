import { expect, test } from "bun:test";
import { DAY, HOUR, MINUTE, setUp } from "./cron-fixture.ts";
import { evenSlots, type Fields, fixedSlots } from "./wall-clock.ts";

const FROM = Date.UTC(2026, 0, 1, 0, 0, 30);
const UNTIL = Date.UTC(2027, 0, 1, 0, 0, 30);

const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Chatham"];

/** In each zone: hours that the clock leaves out and shows twice, a list of times, weekdays, and "every". */
const schedules: readonly (readonly [expr: string, fields: Fields, expected: typeof fixedSlots])[] = [
  ["30 2 * * *", { minutes: [30], hours: [2] }, fixedSlots],
  ["45 1 * * *", { minutes: [45], hours: [1] }, fixedSlots],
  ["0 9 * * 1-5", { minutes: [0], hours: [9], weekdays: [1, 2, 3, 4, 5] }, fixedSlots],
  ["15 2,3 1,29 * 0", { minutes: [15], hours: [2, 3], days: [1, 29], weekdays: [0] }, fixedSlots],
  ["*/20 2 * * 0", { minutes: [0, 20, 40], hours: [2], weekdays: [0] }, evenSlots],
];

/** The same every time, so that a failure can be looked at. */
function createChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

test("run() runs each slot of a year once, with restarts, crashes and both changes of the clock", async () => {
  // A year of looks at the file every 30 seconds would add nothing but time.
  const { clock, jobs, begin, slots, files, turns } = setUp({ start: FROM, pollMs: 5 * MINUTE });
  const expected = new Map<string, readonly number[]>();
  for (const tz of zones)
    for (const [expr, fields, all] of schedules) {
      const { id } = await jobs.add({
        name: `${expr} ${tz}`,
        message: "x",
        deliver: false,
        schedule: { kind: "cron", expr, tz },
      });
      const from = Math.ceil(FROM / MINUTE) * MINUTE;
      expected.set(id, all(tz, fields, from, UNTIL));
    }
  const every = 7 * HOUR + 13 * MINUTE;
  const period = await jobs.add({
    name: "every",
    message: "x",
    deliver: false,
    schedule: { kind: "every", everyMs: every },
  });
  const times = Math.floor((UNTIL - FROM) / every);
  expected.set(
    period.id,
    Array.from({ length: times }, (_, index) => FROM + (index + 1) * every),
  );

  const chance = createChance(7);
  let crashes = 0;
  let service = await begin();
  while (clock.now() < UNTIL) {
    const isCrash = chance() < 0.3;
    const before = turns.put.length;
    // What is put from now on is known to the bus, and nothing of it reaches the file.
    if (isCrash) files.fail(new Error("the process is killed"));
    await clock.advance(Math.min(UNTIL - clock.now(), Math.ceil(chance() * (isCrash ? 9 * HOUR : 3 * DAY))));
    await service.end();
    files.fail();
    if (isCrash && turns.put.length > before) crashes++;
    service = await begin();
  }
  await service.end();

  expect(crashes).toBeGreaterThan(20);
  expect(turns.put.length).toBe(turns.known.size);
  for (const [id, all] of expected) expect([id, slots(id)]).toEqual([id, [...all]]);
}, 60_000);

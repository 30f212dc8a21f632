import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Batch, createWriteBehind, type WriteBehindOptions } from "../../src/lib/write-behind.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";

/** A queue of numbers before a disk that fails, or waits, as a test says. */
function setUp(options: Partial<WriteBehindOptions<number>> = {}) {
  const log = createFakeLog();
  const clock = createFakeClock();
  const written: Batch<number>[] = [];
  const state: { error: unknown; gate: Promise<void> } = { error: undefined, gate: Promise.resolve() };
  const queue = createWriteBehind<number>({
    async write(take) {
      const batch = take();
      await state.gate;
      if (state.error !== undefined) throw state.error;
      written.push(batch);
    },
    what: "numbers",
    path: "/numbers",
    log,
    clock,
    mostWaiting: 1_000,
    ...options,
  });
  return { queue, log, clock, written, state, entries: () => written.flatMap(({ entries }) => entries) };
}

test("add() has what came during a write written in the next one, in order", async () => {
  const { queue, state, written } = setUp();
  const { promise, resolve } = Promise.withResolvers<void>();
  state.gate = promise;
  for (const n of [1, 2, 3]) queue.add(n);
  resolve();
  await queue.flush();
  expect(written).toEqual([
    { entries: [1], lost: 0 },
    { entries: [2, 3], lost: 0 },
  ]);
});

test("add() waits for others where it is told to", async () => {
  const { queue, clock, written } = setUp({ delayMs: 1_000 });
  queue.add(1);
  await clock.advance(999);
  queue.add(2);
  expect(written).toEqual([]);
  await clock.advance(1);
  expect(written).toEqual([{ entries: [1, 2], lost: 0 }]);
  expect(clock.pending).toBe(0);
});

test("flush() waits for no clock", async () => {
  const { queue, clock, entries } = setUp({ delayMs: 1_000 });
  queue.add(1);
  await queue.flush();
  expect([entries(), clock.pending]).toEqual([[1], 0]);
});

test("flush() writes what is added while it waits", async () => {
  const { queue, entries } = setUp();
  queue.add(1);
  const flushed = queue.flush();
  queue.add(2);
  await flushed;
  expect(entries()).toEqual([1, 2]);
});

test("add() bounds each batch, and takes at least one entry", async () => {
  const { queue, written } = setUp({ delayMs: 1, sizeOf: (n) => n, mostInBatch: 5 });
  for (const n of [4, 4, 9, 1]) queue.add(n);
  await queue.flush();
  expect(written.map(({ entries }) => entries)).toEqual([[4, 4], [9], [1]]);
});

test("add() loses what is too much, and the next batch says how much", async () => {
  const { queue, written, log } = setUp({ delayMs: 1, sizeOf: (n) => n, mostWaiting: 10 });
  for (const n of [4, 6, 1, 2]) queue.add(n);
  await queue.flush();
  queue.add(3);
  await queue.flush();
  expect(written).toEqual([
    { entries: [4, 6], lost: 2 },
    { entries: [3], lost: 0 },
  ]);
  expect(log.lines).toEqual([
    "warn Could not record numbers /numbers the disk does not answer",
    "info Could record numbers again /numbers 2",
  ]);
});

test("add() counts what is lost during a write in the batch after it", async () => {
  const { queue, state, written } = setUp({ mostWaiting: 1 });
  const { promise, resolve } = Promise.withResolvers<void>();
  state.gate = promise;
  for (const n of [1, 2, 3, 4]) queue.add(n);
  resolve();
  await queue.flush();
  expect(written).toEqual([
    { entries: [1], lost: 0 },
    { entries: [2], lost: 2 },
  ]);
});

test("add() warns once while writing fails, and again when it fails again", async () => {
  const { queue, written, log, state } = setUp();
  for (const error of ["full", "full", undefined, "full"]) {
    state.error = error;
    queue.add(1);
    await queue.flush();
  }
  expect(written).toEqual([{ entries: [1], lost: 2 }]);
  expect(log.lines.map((line) => line.split(" ")[0])).toEqual(["warn", "info", "warn"]);
});

test("add() loses a batch whose write never asked for it, and does not try for ever", async () => {
  const { queue } = setUp({ write: () => Promise.reject(new Error("no lock")) });
  queue.add(1);
  queue.add(2);
  await queue.flush();
});

test("add() loses nothing that no batch tells, whatever fails in between", async () => {
  const step = fc.oneof(
    fc.constant("add" as const),
    fc.constant("fail" as const),
    fc.constant("work" as const),
    fc.constant("flush" as const),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      async (steps, mostWaiting) => {
        const { queue, state, written, entries } = setUp({ mostWaiting });
        let added = 0;
        for (const one of steps) {
          if (one === "add") queue.add(++added);
          else if (one === "flush") await queue.flush();
          else state.error = one === "fail" ? new Error("full") : undefined;
        }
        await queue.flush();
        state.error = undefined;
        queue.add(++added);
        await queue.flush();
        const lost = written.reduce((sum, batch) => sum + batch.lost, 0);
        expect(entries().length + lost).toBe(added);
        expect(entries()).toEqual(entries().toSorted((a, b) => a - b));
      },
    ),
  );
});

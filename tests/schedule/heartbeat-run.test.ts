import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { createMemoryBus } from "../../src/bus/memory.ts";
import type { InboundMessage } from "../../src/core/messages.ts";
import type { FileSystem } from "../../src/core/platform.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { until } from "../fakes/until.ts";
import {
  createWorld,
  HOUR,
  INTERVAL,
  MINUTE,
  noPause,
  settable,
  startIn,
  takeTurns,
  write,
} from "./heartbeat-fixture.ts";

const QUARTER = 15 * MINUTE;
/** Hundreds of writes that wait for the disk would be all that a test does. */
const files: FileSystem = {
  ...createFileSystem(),
  replace: async (path, bytes) => writeFileSync(path, bytes),
};

/** Answers every question the same, and remembers when the first of the two was asked. */
function busyWorld(tasks?: string) {
  const world = createWorld(tasks);
  const asked: number[] = [];
  const model = {
    provider: "fake",
    requests: [],
    push() {},
    async chat({ tools }: { tools: readonly { name: string }[] }) {
      const name = tools[0]?.name ?? "";
      if (name === "heartbeat") asked.push(world.clock.elapsed());
      const args = name === "heartbeat" ? { action: "run" } : { should_notify: true };
      const toolCalls = [{ id: "", name, arguments: JSON.stringify(args) }];
      return { ok: true, content: "", toolCalls, finishReason: "tool_calls" } as const;
    },
  };
  return { ...world, model, asked };
}

describe("run()", () => {
  test("beats after an interval, and every interval from then on", async () => {
    const world = busyWorld();
    const { finish } = takeTurns(world.bus);
    const { run, pass, end, log } = startIn(world);
    await run();
    await pass(INTERVAL - 1);
    expect(world.asked).toEqual([]);
    await pass(1);
    for (let beats = 0; beats < 3; beats++) {
      await finish();
      await pass(INTERVAL);
    }
    expect(world.asked).toEqual([1, 2, 3, 4].map((beat) => beat * INTERVAL));
    await end();
    expect(log.lines.filter((line) => !line.startsWith("debug"))).toEqual([]);
  });

  test.each([1_000, 7_000, 40 * 24 * HOUR])("beats every %d milliseconds", async (intervalMs) => {
    const world = busyWorld();
    const { finish } = takeTurns(world.bus);
    const { run, pass, end } = startIn(world, { intervalMs });
    await run();
    for (let beats = 0; beats < 3; beats++) {
      await pass(intervalMs);
      await finish();
    }
    expect(world.asked).toEqual([intervalMs, 2 * intervalMs, 3 * intervalMs]);
    await end();
  });

  test("does not drift by the time that a beat takes", async () => {
    const world = busyWorld();
    const { finish } = takeTurns(world.bus);
    const { chat } = world.model;
    world.model.chat = async (request) => {
      const reply = await chat(request);
      await world.clock.advance(3 * MINUTE);
      return reply;
    };
    const { run, pass, end } = startIn(world);
    await run();
    await pass(INTERVAL);
    await finish();
    await pass(INTERVAL - 3 * MINUTE);
    await finish();
    await pass(INTERVAL - 3 * MINUTE);
    expect(world.asked).toEqual([INTERVAL, 2 * INTERVAL, 3 * INTERVAL]);
    await end();
  });

  test("leaves beats out while a turn runs, and begins none beside it", async () => {
    const world = busyWorld();
    const { begun, finish } = takeTurns(world.bus);
    const { run, pass, end } = startIn(world);
    await run();
    for (let beats = 0; beats < 5; beats++) await pass(INTERVAL);
    expect(begun).toHaveLength(1);
    expect(world.asked).toHaveLength(1);
    await finish();
    await pass(INTERVAL);
    expect(begun).toHaveLength(2);
    await end();
  });

  test("goes on from the last beat of the process before", async () => {
    const world = busyWorld();
    const { finish } = takeTurns(world.bus);
    const first = startIn(world);
    await first.run();
    await first.pass(INTERVAL);
    await first.end();
    await finish();
    await world.clock.advance(10 * MINUTE);
    const next = startIn(world);
    await next.run();
    await next.pass(20 * MINUTE - 1);
    expect(world.asked).toHaveLength(1);
    await next.pass(1);
    expect(world.asked).toEqual([INTERVAL, 2 * INTERVAL]);
    await next.end();
    await finish();
    // Down for longer than an interval: one beat, and not those that were missed.
    await world.clock.advance(10 * INTERVAL);
    const last = startIn(world);
    await last.run();
    await last.pass(0);
    await last.pass(INTERVAL - 1);
    expect(world.asked).toHaveLength(3);
    await last.end();
  });

  test("does not beat again at once when the beat before ended the process", async () => {
    const world = busyWorld();
    const { chat } = world.model;
    world.model.chat = async (request) => {
      void chat(request);
      return new Promise<never>(() => {});
    };
    for (let starts = 0; starts < 5; starts++) {
      const { run } = startIn(world, { bus: createMemoryBus() });
      await run();
      await world.clock.advance(INTERVAL);
      await until(() => world.asked.length > starts);
    }
    expect(world.asked).toEqual([1, 2, 3, 4, 5].map((beat) => beat * INTERVAL));
  });

  test("asks nobody while there is no task, and the first time that there is one", async () => {
    const world = busyWorld("# Heartbeat\n");
    const { run, pass, end } = startIn(world);
    await run();
    for (let beats = 0; beats < 50; beats++) await pass(INTERVAL);
    expect(world.asked).toEqual([]);
    write(world.workspace, "HEARTBEAT.md", "- Check the mail\n");
    await pass(INTERVAL);
    expect(world.asked).toEqual([51 * INTERVAL]);
    await end();
  });

  test("does nothing during a pause, and goes on after it", async () => {
    const world = busyWorld();
    let leftMs = 1;
    const { run, pass, end } = startIn(world, { pause: { ...noPause, leftMs: () => leftMs } });
    await run();
    for (let beats = 0; beats < 3; beats++) await pass(INTERVAL);
    expect(world.asked).toEqual([]);
    leftMs = 0;
    await pass(INTERVAL);
    expect(world.asked).toEqual([4 * INTERVAL]);
    await end();
  });

  test.each([
    ["the model is not to be had", { model: () => Promise.reject(new Error("no model")) }],
    [
      "the bus cannot be written",
      { bus: { isPending: () => false, publishInbound: () => Promise.reject(new Error("disk full")) } },
    ],
  ])("goes on when %s, and says so in the log", async (_, options) => {
    const world = busyWorld();
    const { run, pass, end, log } = startIn(world, options);
    await run();
    await pass(INTERVAL);
    await pass(INTERVAL);
    expect(log.lines.filter((line) => line.startsWith("error The heartbeat missed a beat"))).toHaveLength(2);
    await end();
  });

  test("ends at once when its signal aborts, also in the middle of a question", async () => {
    const world = createWorld();
    world.model.push({ hang: true });
    const { run, end, log } = startIn(world);
    await run();
    await world.clock.advance(INTERVAL);
    await until(() => world.model.requests.length > 0);
    await end();
    expect(log.lines.filter((line) => /^(warn|error)/.test(line))).toEqual([]);
  });

  test("holds a week with restarts: each beat once, the same news once a day, and no turn beside another", async () => {
    const world = busyWorld();
    const { begun, finish } = takeTurns(world.bus);
    const told: { readonly at: number; readonly turn: string }[] = [];
    const week = 7 * 24 * HOUR;
    let starts = 0;
    let heard = 0;
    let waits = 0;
    while (world.clock.elapsed() < week) {
      const { run, pass, end, route } = startIn(world, { files });
      await run();
      // What came due while nobody was there.
      await pass(0);
      // Up to a day. All times are quarters of an hour, so that no beat comes due on the way to the next.
      const last = world.clock.elapsed() + (1 + ((starts++ * 37) % 96)) * QUARTER;
      while (world.clock.elapsed() < last) {
        await pass(QUARTER);
        await world.clock.giveWay();
        for (const turn of begun.slice(heard)) {
          heard++;
          // A crash between the decision and the answer asks again.
          for (const asked of [turn, turn]) {
            const target = await route(asked, { content: `**The build failed.**${" ".repeat(heard % 3)}` });
            if (target !== undefined) told.push({ at: world.clock.elapsed(), turn: turn.id });
          }
        }
        // Some turns take longer than an interval.
        if (heard % 5 !== 0 || waits++ % 6 === 5) await finish();
      }
      await end();
      await world.clock.advance((starts % 4) * QUARTER);
    }
    const ids = begun.map(({ id }: InboundMessage) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBe(world.asked.length);
    const gaps = world.asked.slice(1).map((at, index) => at - (world.asked[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(INTERVAL);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(6 * INTERVAL);
    expect(starts).toBeGreaterThan(5);
    expect(ids.length).toBeGreaterThan(200);
    // Twice for each turn that is told of, because it was asked twice.
    const days = told.filter((_, index) => index % 2 === 0);
    expect(told.filter((_, index) => index % 2 === 1).map(({ turn }) => turn)).toEqual(
      days.map(({ turn }) => turn),
    );
    expect(days.length).toBeGreaterThanOrEqual(6);
    for (const [index, { at }] of days.slice(1).entries()) {
      expect(at - (days[index]?.at ?? 0)).toBeGreaterThanOrEqual(24 * HOUR);
      expect(at - (days[index]?.at ?? 0)).toBeLessThanOrEqual(24 * HOUR + 6 * INTERVAL);
    }
  });

  test("beats once an interval, wherever the clock jumps", async () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant("pass" as const), ms: fc.nat({ max: 3 * INTERVAL }) }),
      fc.record({
        kind: fc.constant("set" as const),
        ms: fc.integer({ min: -400 * 24 * HOUR, max: 400 * 24 * HOUR }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), async (events) => {
        const world = busyWorld();
        const clock = settable(world.clock);
        const { begun, finish } = takeTurns(world.bus);
        const { run, pass, end } = startIn(world, { clock, files });
        await run();
        for (const { kind, ms } of events) {
          if (kind === "set") clock.set(ms);
          else await pass(ms);
          await world.clock.giveWay();
          await finish();
        }
        await end();
        const ids = begun.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const { asked } = world;
        for (const [index, at] of asked.entries()) {
          const before = asked[index - 1] ?? 0;
          expect(Math.floor(at / INTERVAL)).toBeGreaterThan(Math.floor(before / INTERVAL));
        }
        const waits = events.flatMap(({ kind, ms }) => (kind === "pass" ? [ms] : []));
        const total = waits.reduce((sum, ms) => sum + ms, 0);
        expect(asked.length).toBeLessThanOrEqual(total / INTERVAL);
        if (waits.every((ms) => ms <= INTERVAL)) expect(asked.length).toBe(Math.floor(total / INTERVAL));
      }),
      { numRuns: 40 },
    );
  });

  test("beats at most once more with each restart, wherever the clock jumps", async () => {
    const step = fc.record({
      ms: fc.nat({ max: 2 * INTERVAL }),
      setMs: fc.oneof(fc.constant(0), fc.integer({ min: -60 * 24 * HOUR, max: 60 * 24 * HOUR })),
      isRestart: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const world = busyWorld();
        const clock = settable(world.clock);
        const { begun, finish } = takeTurns(world.bus);
        let process = startIn(world, { clock, files });
        await process.run();
        for (const { ms, setMs, isRestart } of steps) {
          await process.pass(ms);
          await world.clock.giveWay();
          await finish();
          clock.set(setMs);
          if (!isRestart) continue;
          await process.end();
          process = startIn(world, { clock, files });
          await process.run();
        }
        await process.end();
        const starts = steps.filter(({ isRestart }) => isRestart).length;
        const total = steps.reduce((sum, { ms }) => sum + ms, 0);
        const jumps = steps.filter(({ setMs }) => setMs > 0).length;
        expect(world.asked.length).toBeLessThanOrEqual(total / INTERVAL + Math.min(starts, jumps));
        expect(new Set(begun.map(({ id }) => id)).size).toBe(begun.length);
      }),
      { numRuns: 40 },
    );
  });
});

import { describe, expect, test } from "bun:test";
import { watchGrowth, watchPulse } from "../../src/lib/thread-watch.ts";
import { createFakeClock } from "../fakes/clock.ts";

const MOST = 512;

function createPulse() {
  const clock = createFakeClock();
  const state = { process: 1_000, own: 10, hears: true };
  const events: string[] = [];
  const watch = watchPulse({
    clock,
    memory: () => state.process,
    mostGrowth: MOST,
    ping() {
      events.push("ping");
      if (state.hears) watch.heard(state.own);
    },
    onTooMuch: () => events.push("too much"),
    onDeaf: () => events.push("deaf"),
  });
  return { clock, state, events, watch };
}

describe("watchPulse()", () => {
  test("asks every ten seconds, and leaves a thread alone that answers for hours", async () => {
    const { clock, events } = createPulse();
    await clock.advance(3_600_000);
    expect(events.length).toBeGreaterThan(300);
    expect(new Set(events)).toEqual(new Set(["ping"]));
    expect(clock.pending).toBe(1);
  });

  test("gives a thread up that has not answered for a minute, once", async () => {
    const { clock, state, events } = createPulse();
    state.hears = false;
    await clock.advance(69_000);
    expect(events).toEqual(["ping"]);
    await clock.advance(600_000);
    expect(events).toEqual(["ping", "deaf"]);
    expect(clock.pending).toBe(0);
  });

  test("takes an answer that comes late", async () => {
    const { clock, state, events, watch } = createPulse();
    state.hears = false;
    await clock.advance(60_000);
    watch.heard(10);
    state.hears = true;
    await clock.advance(600_000);
    expect(events).not.toContain("deaf");
  });

  test("accuses no thread of what others take, however often the process grows", async () => {
    const { clock, state, events } = createPulse();
    for (let grown = 0; grown < 20; grown++) {
      state.process += 2 * MOST;
      await clock.advance(7_000);
    }
    expect(new Set(events)).toEqual(new Set(["ping"]));
  });

  test("gives a thread up that says it has too much", async () => {
    const { clock, state, events } = createPulse();
    state.own = MOST + 1;
    await clock.advance(10_000);
    expect(events).toEqual(["ping", "too much"]);
    expect(clock.pending).toBe(0);
  });

  test("gives a thread up in seconds that grows the process and says nothing", async () => {
    const { clock, state, events } = createPulse();
    state.hears = false;
    state.process += MOST + 1;
    await clock.advance(3_000);
    expect(events).toEqual(["ping"]);
    await clock.advance(1_000);
    expect(events).toEqual(["ping", "too much"]);
  });

  test("asks no more when it was stopped, and takes no answer", async () => {
    const { clock, events, watch } = createPulse();
    watch.stop();
    watch.heard(MOST + 1);
    await clock.advance(600_000);
    expect(events).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

test("watchGrowth() tells once when the process has grown too much", async () => {
  const clock = createFakeClock();
  let process = 1_000;
  let told = 0;
  watchGrowth({ clock, memory: () => process, mostGrowth: MOST, onTooMuch: () => told++ });
  process += MOST;
  await clock.advance(10_000);
  expect(told).toBe(0);
  process++;
  await clock.advance(10_000);
  expect(told).toBe(1);
  expect(clock.pending).toBe(0);
});

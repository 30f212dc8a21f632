import { expect, test } from "bun:test";
import { runParts } from "../../src/app/gateway/lifecycle.ts";
import { abortable } from "../../src/lib/abort.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function setUp({ drainMs = 20_000 } = {}) {
  const clock = createFakeClock();
  const events: string[] = [];
  const gates = { turns: Promise.withResolvers<void>(), answers: Promise.withResolvers<void>() };
  const part =
    (name: string, more: () => Promise<void> = async () => {}) =>
    async (signal: AbortSignal) => {
      await aborted(signal);
      events.push(`${name} told`);
      await more();
      events.push(`${name} ended`);
    };
  return {
    clock,
    events,
    gates,
    parts: {
      intake: part("intake"),
      agent: part("agent", () => gates.turns.promise),
      delivery: part("delivery"),
      delivered: (signal: AbortSignal) => abortable(gates.answers.promise, signal),
      clock,
      log: createFakeLog(),
      drainMs,
    },
  };
}

test("runParts() ends intake first, then turns, then delivery when all answers are out", async () => {
  const { parts, events, gates, clock } = setUp();
  const ending = new AbortController();
  const running = runParts(parts, ending.signal);
  ending.abort();
  await clock.advance(0);
  expect(events).toEqual(["intake told", "agent told", "intake ended"]);
  gates.turns.resolve();
  await clock.advance(0);
  expect(events.at(-1)).toBe("agent ended");
  gates.answers.resolve();
  await running;
  expect(events.slice(-2)).toEqual(["delivery told", "delivery ended"]);
  expect(clock.pending).toBe(0);
});

test("runParts() gives answers what turns left of the time, and no more", async () => {
  const { parts, events, gates, clock } = setUp({ drainMs: 20_000 });
  const ending = new AbortController();
  const running = runParts(parts, ending.signal);
  ending.abort();
  await clock.advance(0);
  await clock.advance(17_000);
  gates.turns.resolve();
  await clock.advance(0);
  await clock.advance(2_999);
  expect(events).not.toContain("delivery told");
  await clock.advance(1);
  await running;
  expect(events).toContain("delivery ended");
});

test("runParts() does not wait all of the time for answers that a platform does not take", async () => {
  const { parts, events, gates, clock } = setUp({ drainMs: 20_000 });
  gates.turns.resolve();
  const ending = new AbortController();
  const running = runParts(parts, ending.signal);
  ending.abort();
  await clock.advance(0);
  await clock.advance(4_999);
  expect(events).not.toContain("delivery told");
  await clock.advance(1);
  await running;
});

test("runParts() leaves answers a second when turns have used all of the time", async () => {
  const { parts, events, gates, clock } = setUp({ drainMs: 1_000 });
  const ending = new AbortController();
  const running = runParts(parts, ending.signal);
  ending.abort();
  await clock.advance(0);
  await clock.advance(5_000);
  gates.turns.resolve();
  await clock.advance(0);
  await clock.advance(999);
  expect(events).not.toContain("delivery told");
  await clock.advance(1);
  await running;
});

test.each(["intake", "agent", "delivery"] as const)(
  "runParts() ends all of them and rejects when the %s fails",
  async (name) => {
    const { parts, events, gates } = setUp();
    gates.turns.resolve();
    gates.answers.resolve();
    const broken = { ...parts, [name]: async () => Promise.reject(new Error(`${name} broke`)) };
    await expect(runParts(broken, new AbortController().signal)).rejects.toThrow(`${name} broke`);
    expect(events.filter((event) => event.endsWith("ended"))).toHaveLength(2);
  },
);

test("runParts() takes a part that ends by itself for one that failed", async () => {
  const { parts, gates } = setUp();
  gates.turns.resolve();
  gates.answers.resolve();
  await expect(runParts({ ...parts, agent: async () => {} }, new AbortController().signal)).rejects.toThrow(
    "The agent of the gateway ended by itself",
  );
});

test("runParts() ends at once when it is told to before it began", async () => {
  const { parts, events, gates } = setUp();
  gates.turns.resolve();
  gates.answers.resolve();
  await runParts({ ...parts }, AbortSignal.abort());
  expect(events.filter((event) => event.endsWith("ended"))).toHaveLength(3);
});

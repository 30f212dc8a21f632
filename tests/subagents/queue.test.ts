/** Who runs, who waits, and that a provider which refuses is asked by one task at a time. */

import { describe, expect, test } from "bun:test";
import { createBackgroundPause } from "../../src/schedule/background-pause.ts";
import { createTaskQueue } from "../../src/subagents/queue.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import type { Scripted } from "../fakes/model.ts";
import { createFixture } from "./fixture.ts";

const FIRST_PAUSE_MS = 5 * 60_000;

function setUp(limit = 4) {
  const clock = createFakeClock();
  const pause = createBackgroundPause({ clock, log: createFakeLog(), tellOwner: async () => {} });
  const begun: string[] = [];
  const running = new Map<string, { answered: () => void; end: () => void }>();
  const queue = createTaskQueue<string>({
    limit,
    pause,
    clock,
    run(job, onAnswered) {
      begun.push(job);
      const { promise, resolve } = Promise.withResolvers<void>();
      const answered = () => {
        pause.observe({ origin: "subagent", error: undefined });
        onAnswered();
      };
      running.set(job, { answered, end: resolve });
      return promise;
    },
    isPatient: () => true,
    onPaused() {},
  });
  for (const job of "abcdefgh") queue.add(job);

  /** The provider refuses, so the task ends. */
  async function fail(job: string): Promise<void> {
    pause.observe({ origin: "subagent", error: "quota" });
    await end(job);
  }

  async function end(job: string): Promise<void> {
    running.get(job)?.end();
    await clock.advance(0);
  }
  return { clock, begun, fail, end, answered: (job: string) => running.get(job)?.answered() };
}

describe("createTaskQueue()", () => {
  test("begins nobody after a failure that begins a pause, and one when the pause is over", async () => {
    const { clock, begun, fail } = setUp();
    for (const job of "abcd") await fail(job);
    expect(begun.join("")).toBe("abcd");
    await clock.advance(FIRST_PAUSE_MS);
    expect(begun.join("")).toBe("abcde");
    await fail("e");
    await clock.advance(FIRST_PAUSE_MS);
    expect(begun.join("")).toBe("abcde");
    await clock.advance(FIRST_PAUSE_MS);
    expect(begun.join("")).toBe("abcdef");
  });

  test("begins the others as soon as the provider has answered the one", async () => {
    const { clock, begun, fail, answered } = setUp();
    for (const job of "abcd") await fail(job);
    await clock.advance(FIRST_PAUSE_MS);
    answered("e");
    expect(begun.join("")).toBe("abcdefgh");
  });

  test("lets another try when the one ended otherwise", async () => {
    const { clock, begun, fail, end } = setUp();
    for (const job of "abcd") await fail(job);
    await clock.advance(FIRST_PAUSE_MS);
    await end("e");
    expect(begun.join("")).toBe("abcdef");
  });

  test("waits for those that were at work before the pause", async () => {
    const { clock, begun, fail, answered } = setUp(2);
    await fail("a");
    await clock.advance(FIRST_PAUSE_MS);
    expect(begun.join("")).toBe("ab");
    answered("b");
    expect(begun.join("")).toBe("abc");
  });
});

test("a provider that refuses costs a chat one failure for each pause", async () => {
  const pause = { left: 0, leftMs: () => pause.left };
  const gate = Promise.withResolvers<void>();
  const refuse: Scripted = async () => {
    await gate.promise;
    pause.left = FIRST_PAUSE_MS;
    return { ok: false, error: { kind: "quota", message: "no money" }, partial: "" };
  };
  const { spawn, published, clock, settled, model } = createFixture({
    script: [refuse, refuse, refuse, "d is done", "e is done"],
    pause,
    limit: 2,
  });
  for (const task of ["a", "b", "c", "d", "e"]) await spawn(task);
  gate.resolve();
  for (const asked of [2, 3]) {
    await clock.whenPending(1);
    expect(model.requests).toHaveLength(asked);
    expect(published).toHaveLength(asked);
    pause.left = 0;
    await clock.advance(FIRST_PAUSE_MS);
  }
  await settled();
  expect(published.filter(({ content }) => content.includes("What came of it: it failed"))).toHaveLength(3);
  expect(published).toHaveLength(5);
});

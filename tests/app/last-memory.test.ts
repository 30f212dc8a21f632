import { expect, test } from "bun:test";
import { putIntoMemory } from "../../src/app/last-memory.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeTerminal } from "../fakes/terminal.ts";

/** A consolidation that is at its end when it is told to be, or given up. */
function setUp(options: { stderrIsTty?: boolean } = {}) {
  const clock = createFakeClock();
  const terminal = createFakeTerminal(options);
  const work = Promise.withResolvers<void>();
  const user = new AbortController();
  const ended = { isIt: false, isGivenUp: false };
  const consolidation = {
    settled(signal: AbortSignal) {
      signal.addEventListener("abort", () => {
        ended.isGivenUp = true;
        work.resolve();
      });
      return work.promise;
    },
  };
  const done = putIntoMemory(consolidation, { clock, terminal }, user.signal).then(() => {
    ended.isIt = true;
  });
  return { clock, terminal, work, user, ended, done };
}

const line = "Putting this conversation into memory; Ctrl-C leaves that for later\n";

test("putIntoMemory() is silent about what takes no second", async () => {
  const { clock, terminal, work, done } = setUp({ stderrIsTty: true });
  await clock.advance(900);
  work.resolve();
  await done;
  await clock.advance(60_000);
  expect([terminal.written, clock.pending]).toEqual(["", 0]);
});

test("putIntoMemory() says once on a terminal what it is waited for, and nothing elsewhere", async () => {
  for (const stderrIsTty of [true, false]) {
    const { clock, terminal, work, done } = setUp({ stderrIsTty });
    await clock.advance(20_000);
    work.resolve();
    await done;
    expect([terminal.stdout, terminal.stderr]).toEqual(["", stderrIsTty ? line : ""]);
  }
});

test("putIntoMemory() gives up after half a minute", async () => {
  const { clock, ended, done } = setUp();
  await clock.advance(29_000);
  expect(ended).toEqual({ isIt: false, isGivenUp: false });
  await clock.advance(1_000);
  await done;
  expect(ended).toEqual({ isIt: true, isGivenUp: true });
  expect(clock.pending).toBe(0);
});

test("putIntoMemory() gives up at once when its signal aborts", async () => {
  const { clock, terminal, user, ended, done } = setUp({ stderrIsTty: true });
  user.abort();
  await done;
  expect(ended.isGivenUp).toBe(true);
  await clock.advance(2_000);
  expect([terminal.written, clock.pending]).toEqual(["", 0]);
});

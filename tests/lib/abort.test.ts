import { describe, expect, test } from "bun:test";
import { aborted, limitSignal } from "../../src/lib/abort.ts";
import { createFakeClock } from "../fakes/clock.ts";

describe("limitSignal()", () => {
  test("aborts with the caller and its reason", () => {
    const caller = new AbortController();
    const { signal } = limitSignal(caller.signal, { clock: createFakeClock(), ms: 1_000 });
    expect(signal.aborted).toBe(false);
    const reason = new Error("stop");
    caller.abort(reason);
    expect(signal.reason).toBe(reason);
  });

  test("has aborted already, and waits for nothing, when its caller has", () => {
    const clock = createFakeClock();
    const reason = new Error("stop");
    const { signal } = limitSignal(AbortSignal.abort(reason), { clock, ms: 1_000 });
    expect(signal.reason).toBe(reason);
    expect(clock.pending).toBe(0);
  });

  test("aborts when the time is over, with the reason that it is given", async () => {
    const clock = createFakeClock();
    const reason = new Error("late");
    const caller = new AbortController().signal;
    const { signal } = limitSignal(caller, { clock, ms: 1_000, reason: () => reason });
    await clock.advance(999);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.reason).toBe(reason);
  });

  test("aborts when it is told to, also without a limit", () => {
    const clock = createFakeClock();
    const { signal, abort } = limitSignal(new AbortController().signal, { clock, ms: undefined });
    expect(clock.pending).toBe(0);
    abort("enough");
    expect(signal.reason).toBe("enough");
  });

  test("does nothing more once it was released", async () => {
    const clock = createFakeClock();
    const caller = new AbortController();
    const { signal, release } = limitSignal(caller.signal, { clock, ms: 1_000 });
    release();
    release();
    expect(clock.pending).toBe(0);
    caller.abort();
    await clock.advance(2_000);
    expect(signal.aborted).toBe(false);
  });
});

test("aborted() resolves when the signal aborts, and at once when it has", async () => {
  const end = new AbortController();
  let isOver = false;
  const waiting = aborted(end.signal).then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect(isOver).toBe(false);
  end.abort(new Error("enough"));
  await waiting;
  await aborted(end.signal);
});

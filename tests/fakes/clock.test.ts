import { describe, expect, test } from "bun:test";
import { createFakeClock } from "./clock.ts";

describe("createFakeClock()", () => {
  test("advance() runs what is due, in order, at its own time, and nothing else", async () => {
    const clock = createFakeClock(100);
    const seen: string[] = [];
    clock.after(20, () => seen.push(`b${clock.now()}`));
    clock.after(10, () => seen.push(`a${clock.now()}`));
    clock.after(31, () => seen.push("late"));
    const cancel = clock.after(5, () => seen.push("cancelled"));
    cancel();
    await clock.advance(30);
    expect(seen).toEqual(["a110", "b120"]);
    expect([clock.now(), clock.pending]).toEqual([130, 1]);
  });

  test("advance() serves a loop that sleeps again", async () => {
    const clock = createFakeClock();
    let rounds = 0;
    const { signal } = new AbortController();
    const loop = (async () => {
      while (rounds < 5) {
        await clock.sleep(10, signal);
        rounds++;
      }
    })();
    await clock.advance(50);
    expect(rounds).toBe(5);
    await loop;
  });

  test("sleep() rejects with the reason of its signal and leaves nothing behind", async () => {
    const clock = createFakeClock();
    const controller = new AbortController();
    const sleep = clock.sleep(1_000, controller.signal);
    controller.abort(new Error("enough"));
    await expect(sleep).rejects.toThrow("enough");
    expect(clock.pending).toBe(0);
    await expect(clock.sleep(1, controller.signal)).rejects.toThrow("enough");
  });

  test("whenPending() resolves when enough wait", async () => {
    const clock = createFakeClock();
    const ready = clock.whenPending(2);
    clock.after(1, () => {});
    clock.after(1, () => {});
    await ready;
    expect(clock.pending).toBe(2);
  });
});

import { describe, expect, test } from "bun:test";
import { createBreaker } from "../../../src/providers/resilient/breaker.ts";
import { createFakeClock } from "../../fakes/clock.ts";

function setup() {
  const clock = createFakeClock();
  const breaker = createBreaker(clock);
  return {
    ...breaker,
    clock,
    fail: (times: number) => {
      for (let time = 0; time < times; time++) breaker.failed();
    },
  };
}

describe("createBreaker()", () => {
  test("allows until three failures in a row, and again after a minute", async () => {
    const { allows, fail, clock } = setup();
    fail(2);
    expect(allows()).toBe(true);
    fail(1);
    expect(allows()).toBe(false);
    await clock.advance(59_999);
    expect(allows()).toBe(false);
    await clock.advance(1);
    expect(allows()).toBe(true);
  });

  test("is shut again by one failure after the pause", async () => {
    const { allows, fail, clock } = setup();
    fail(3);
    await clock.advance(60_000);
    fail(1);
    expect(allows()).toBe(false);
    await clock.advance(60_000);
    expect(allows()).toBe(true);
  });

  test("counts anew after a success, also of one that should have been left alone", () => {
    const { allows, fail, succeeded } = setup();
    fail(2);
    succeeded();
    fail(2);
    expect(allows()).toBe(true);
    fail(1);
    succeeded();
    expect(allows()).toBe(true);
    fail(2);
    expect(allows()).toBe(true);
  });
});

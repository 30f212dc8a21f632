import { describe, expect, test } from "bun:test";
import { createBreaker } from "../../../src/providers/resilient/breaker.ts";
import { createFakeClock } from "../../fakes/clock.ts";

function setup() {
  const clock = createFakeClock();
  const breaker = createBreaker(clock);
  return {
    ...breaker,
    clock,
    fail: (times: number, kind: Parameters<typeof breaker.failed>[0] = "transient") => {
      for (let time = 0; time < times; time++) breaker.failed(kind);
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

  test("counts refused keys and empty accounts, and nothing that is wrong with a request", () => {
    const { allows, fail } = setup();
    for (const kind of ["badRequest", "contextOverflow", "contentFilter", "aborted"] as const) fail(3, kind);
    fail(1, "auth");
    fail(1, "quota");
    expect(allows()).toBe(true);
    fail(1, "transient");
    expect(allows()).toBe(false);
  });
});

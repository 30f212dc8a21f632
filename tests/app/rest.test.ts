import { expect, test } from "bun:test";
import { createRest } from "../../src/app/gateway/rest.ts";
import { createFakeClock } from "../fakes/clock.ts";

function setUp() {
  const clock = createFakeClock();
  let collected = 0;
  const rest = createRest(clock, () => {
    collected++;
  });
  return { clock, rest, collected: () => collected };
}

test("createRest() collects once after the start, and not while something runs", async () => {
  const { clock, collected } = setUp();
  await clock.advance(60_000);
  expect(collected()).toBe(1);
});

test("ended() collects when the last has ended and nothing has begun for a while", async () => {
  const { clock, rest, collected } = setUp();
  rest.began();
  rest.began();
  await clock.advance(60_000);
  rest.ended();
  await clock.advance(60_000);
  expect(collected()).toBe(0);
  rest.ended();
  await clock.advance(2_999);
  rest.began();
  await clock.advance(60_000);
  rest.ended();
  expect(collected()).toBe(0);
  await clock.advance(3_000);
  expect(collected()).toBe(1);
  expect(clock.pending).toBe(0);
});

test("stop() calls it off", async () => {
  const { clock, rest, collected } = setUp();
  rest.stop();
  await clock.advance(60_000);
  expect(collected()).toBe(0);
});

import { expect, test } from "bun:test";
import { createBreather } from "../../src/lib/breather.ts";
import { systemClock } from "../../src/platform/clock.ts";

test("createBreather() lets others have their turn after a while", async () => {
  let turns = 0;
  setImmediate(() => turns++);
  const breather = createBreather(systemClock);
  for (let count = 0; count < 20; count++) await breather.take(500_000);
  expect(turns).toBe(1);
});

test("createBreather() goes on at once after little work", async () => {
  let turns = 0;
  setImmediate(() => turns++);
  const breather = createBreather(systemClock);
  for (let count = 0; count < 100; count++) await breather.take(100);
  expect(turns).toBe(0);
});

test("createBreather() adds up the work of all who share it", async () => {
  const breather = createBreather(systemClock);
  const order: string[] = [];
  setImmediate(() => order.push("others"));
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      await breather.take(300_000);
      order.push("work");
    }),
  );
  expect(order.indexOf("others")).toBeLessThan(10);
  expect(order.indexOf("others")).toBeGreaterThan(0);
});

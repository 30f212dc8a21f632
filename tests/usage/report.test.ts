import { expect, test } from "bun:test";
import type { UsageRecord } from "../../src/core/usage.ts";
import { type SummariseOptions, summarise } from "../../src/usage/report.ts";
import { call, streamOf } from "./fixture.ts";

function report(records: readonly UsageRecord[], options: Partial<SummariseOptions> = {}) {
  return summarise(streamOf(records), { by: "session", timeZone: "UTC", ...options });
}

const names = async (...args: Parameters<typeof report>) =>
  (await report(...args)).groups.map(({ name }) => name);

test("summarise() adds up each group and all of them", async () => {
  const { groups, total } = await report([
    call({ session: "a", cost: 0.1 }),
    call({ session: "a", cost: 0.2, failed: true }),
    call({ session: "b", cost: 0.4, estimated: true, input: 1 }),
  ]);
  const none = { failed: 0, estimated: 0, unpriced: 0 };
  const a = { calls: 2, input: 200, output: 20, cached: 80, reasoning: 10 };
  expect(groups).toEqual([
    { name: "a", ...none, ...a, failed: 1, cost: 0.3 },
    { name: "b", ...none, calls: 1, input: 1, output: 10, cached: 40, reasoning: 5, estimated: 1, cost: 0.4 },
  ]);
  expect(total).toEqual({
    calls: 3,
    failed: 1,
    estimated: 1,
    input: 201,
    output: 30,
    cached: 120,
    reasoning: 15,
    cost: 0.7,
    unpriced: 0,
  });
});

test("summarise() gives no cost when none is known", async () => {
  const { total } = await report([call()]);
  expect(total.cost).toBeUndefined();
  expect(total.unpriced).toBe(1);
});

test("summarise() counts the calls whose cost is not known beside the cost of the others", async () => {
  const { total } = await report([call({ cost: 1 }), call()]);
  expect(total).toMatchObject({ cost: 1, unpriced: 1 });
});

test("summarise() misses no cost of a call that used nothing", async () => {
  const { total } = await report([call({ cost: 1 }), call({ input: 0, output: 0, failed: true })]);
  expect(total).toMatchObject({ cost: 1, unpriced: 0, failed: 1 });
});

test("summarise() names the models whose price is missing, the one with the most calls first", async () => {
  const named = async (...models: string[]) =>
    (await report(models.map((model) => call({ model, provider: "acme" })))).unpricedModels;
  expect(await named("b", "c", "a", "c")).toEqual(["acme/c", "acme/a", "acme/b"]);
  expect(await named(...[..."abcdefg"].flatMap((name) => [name, name]), "g")).toEqual(
    [..."gabcd"].map((name) => `acme/${name}`),
  );
});

test("summarise() names no model whose calls used nothing or have a price", async () => {
  const records = [call({ cost: 0 }), call({ input: 0, output: 0, failed: true })];
  expect((await report(records)).unpricedModels).toEqual([]);
});

test("summarise() counts in the days of the time zone, in their order", async () => {
  const times = ["2026-12-01T00:30:00Z", "2026-11-30T22:30:00Z", "2026-11-30T23:30:00Z"];
  const records = times.map((time) => call({ time }));
  expect(await names(records, { by: "day" })).toEqual(["2026-11-30", "2026-12-01"]);
  const { groups } = await report(records, { by: "day", timeZone: "Europe/Berlin" });
  expect(groups).toMatchObject([
    { name: "2026-11-30", calls: 1 },
    { name: "2026-12-01", calls: 2 },
  ]);
});

test("summarise() puts what used the most tokens first", async () => {
  const records = [call({ session: "b" }), call({ session: "a" }), call({ session: "c", output: 11 })];
  expect(await names(records)).toEqual(["c", "a", "b"]);
});

test("summarise() keeps one model of two providers apart", async () => {
  const records = [
    call({ provider: "a" }),
    call({ provider: "b" }),
    call({ provider: "b", model: "b/large" }),
  ];
  expect(await names(records, { by: "model" })).toEqual(["b/large", "a/large"]);
});

test("summarise() groups by origin", async () => {
  expect(await names([call(), call({ origin: "cron", input: 0 })], { by: "origin" })).toEqual([
    "chat",
    "cron",
  ]);
});

test("summarise() puts what comes after the last group it keeps apart together", async () => {
  const records = ["a", "b", "c", "a", "d"].map((session) => call({ session }));
  const { groups, others, total } = await report(records, { maxGroups: 2 });
  expect(groups.map(({ name, calls }) => [name, calls])).toEqual([
    ["a", 2],
    ["b", 1],
  ]);
  expect(others?.calls).toBe(2);
  expect(total.calls).toBe(5);
});

test("summarise() takes names that objects already have", async () => {
  expect(await names([call({ session: "__proto__" })])).toEqual(["__proto__"]);
});

test("summarise() of nothing is nothing", async () => {
  const { groups, total } = await report([]);
  expect(groups).toEqual([]);
  expect(total.calls).toBe(0);
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { command } from "../../src/cli/usage.ts";
import type { UsageRecord } from "../../src/core/usage.ts";
import { tempFolder } from "../fakes/temp.ts";
import { call, setUp } from "../usage/fixture.ts";
import { createTestApp } from "./fixture.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");

async function usage(
  records: readonly UsageRecord[],
  options: Record<string, string | boolean> = {},
  { tty = false } = {},
) {
  const home = tempFolder();
  const { store } = setUp({ workspace: home });
  for (const entry of records) store.record(entry);
  const app = createTestApp({ home, tty });
  const { signal } = new AbortController();
  const clock = { ...app.platform.clock, now: () => NOW };
  const code = await command.run?.({
    app: { ...app, platform: { ...app.platform, clock }, usage: async () => store },
    positionals: [],
    options,
    signal,
  });
  return { code, out: app.terminal.stdout, err: app.terminal.stderr };
}

test("usage prints a table by day with totals", async () => {
  const { code, out } = await usage([
    call({ time: "2026-11-29T09:00:00Z", input: 1_234_567, cost: 1.5 }),
    call({ cost: 12.345 }),
  ]);
  expect(code).toBe(0);
  expect(out).toBe(
    [
      "day         calls         in  cached  out  reasoning    cost",
      "2026-11-29      1  1,234,567      40   10          5   $1.50",
      "2026-11-30      1        100      40   10          5  $12.35",
      "────────────────────────────────────────────────────────────",
      "total           2  1,234,667      80   20         10  $13.85",
      "",
    ].join("\n"),
  );
});

test("usage leaves the cost blank where none is known", async () => {
  const { out } = await usage([call()]);
  expect(out).toContain("2026-11-30      1  100      40   10          5\n");
  expect(out).not.toContain("$");
});

test("usage marks a cost that is known in part", async () => {
  const { out } = await usage([call({ session: "a", cost: 0.5 }), call({ session: "b" })], { by: "session" });
  expect(out).toContain("total        2  200      80   20         10  ≥ $0.5000\n");
});

test("usage never says that a part of the cost is less than something", async () => {
  const { out } = await usage([call({ cost: 0.000001 }), call()]);
  expect(out).toContain("≥ $0.0000");
  expect(out).not.toContain("<");
});

test("usage shows that a cost is too small to show", async () => {
  expect((await usage([call({ cost: 0.000001 })])).out).toContain("< $0.0001");
});

test("usage marks counts that were guessed", async () => {
  const { out } = await usage([call({ estimated: true })]);
  expect(out).toContain("2026-11-30      1  ~100      40  ~10          5\n");
});

test("usage shows how many calls failed, where some did", async () => {
  const { out } = await usage([
    call({ time: "2026-11-29T09:00:00Z" }),
    call({ failed: true }),
    call({ failed: true }),
  ]);
  expect(out).toBe(
    [
      "day         calls  failed   in  cached  out  reasoning  cost",
      "2026-11-29      1       0  100      40   10          5",
      "2026-11-30      2       2  200      80   20         10",
      "────────────────────────────────────────────────────────────",
      "total           3       2  300     120   30         15",
      "",
    ].join("\n"),
  );
  expect((await usage([call()])).out).not.toContain("failed");
});

test("usage says in a terminal whose price is missing", async () => {
  const records = [call(), call({ model: "small\n" }), call({ cost: 1, model: "priced" })];
  const { out, err } = await usage(records, {}, { tty: true });
  expect(err).toBe("Set modelPrices for acme/large, acme/small to see what all calls cost.\n");
  expect(out).not.toContain("modelPrices");
  expect((await usage([call({ cost: 1 })], {}, { tty: true })).err).toBe("");
});

test("usage keeps that from a pipe and from JSON", async () => {
  expect((await usage([call()])).err).toBe("");
  expect((await usage([call()], { json: true }, { tty: true })).err).toBe("");
});

test("usage aligns names by the cells they take", async () => {
  const sessions = ["cli:猫🐈", "cli:abcdef"].map((session) => call({ session }));
  const { out } = await usage(sessions, { by: "session" });
  const widths = out
    .split("\n")
    .slice(0, 2)
    .map((line) => Bun.stringWidth(line.slice(0, line.indexOf("1") + 1)));
  expect(out).toContain("cli:猫🐈        1");
  expect(new Set(widths.slice(1)).size).toBe(1);
});

test("usage prints no control character of a session's name", async () => {
  const { out } = await usage([call({ session: "a\x1b[2J\nb\u009b" })], { by: "session" });
  expect(out).toMatch(/^a b +1/m);
});

test("usage --since counts from then on", async () => {
  const records = [call({ time: "2026-11-29T11:00:00Z" }), call({ time: "2026-11-29T13:00:00Z" })];
  const { out } = await usage(records, { since: "24h" });
  expect(out).toMatch(/^total +1 /m);
});

test("usage --json prints groups and totals", async () => {
  const { out } = await usage([call({ cost: 0.5, session: "\u009b" })], {
    json: true,
    by: "session",
    since: "2026-11-30",
  });
  expect(out).not.toContain("\u009b");
  const totals = {
    calls: 1,
    failed: 0,
    estimated: 0,
    input: 100,
    output: 10,
    cached: 40,
    reasoning: 5,
    cost: 0.5,
    unpriced: 0,
  };
  expect(JSON.parse(out)).toEqual({
    by: "session",
    timeZone: "UTC",
    since: "2026-11-30T00:00:00.000Z",
    groups: [{ name: "\u009b", ...totals }],
    total: totals,
    unpricedModels: [],
  });
});

test("usage says that nothing is recorded", async () => {
  expect(await usage([])).toEqual({ code: 0, out: "", err: "No model calls are recorded yet.\n" });
  const { err } = await usage([call()], { since: "1h" });
  expect(err).toBe("No model calls are recorded since then.\n");
});

test("usage --json prints JSON when nothing is recorded", async () => {
  expect(JSON.parse((await usage([], { json: true })).out)).toMatchObject({
    groups: [],
    total: { calls: 0 },
  });
});

test("usage refuses a group that is none, and says which there are", async () => {
  await expect(usage([], { by: "week" })).rejects.toMatchObject({
    name: "UserError",
    hint: "Say --by day, model, origin or session",
  });
});

test("usage refuses a time it does not understand, and says what it does", async () => {
  await expect(usage([], { since: "yesterday" })).rejects.toMatchObject({
    name: "UserError",
    hint: expect.stringContaining("24h, 7d, 2w"),
  });
});

test("usage keeps its columns whatever a session is called", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 5 }),
      async (names) => {
        const { out } = await usage(
          names.map((session) => call({ session })),
          { by: "session" },
        );
        const lines = out
          .trimEnd()
          .split("\n")
          .filter((line) => !line.startsWith("─"));
        const ends = lines.slice(1).map((line) => Bun.stringWidth(line));
        expect(new Set(ends).size).toBe(1);
      },
    ),
    { numRuns: 30 },
  );
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import type { UsageRecord } from "../../src/core/usage.ts";
import { formatRecord, linesOf, parseRecord } from "../../src/usage/lines.ts";
import { call, streamOf } from "./fixture.ts";

const name = fc.string({ unit: "binary", maxLength: 200 });
const tokens = fc.maxSafeNat();
const calls = fc.record<UsageRecord>(
  {
    time: fc
      .date({ min: new Date(0), max: new Date("9999-01-01"), noInvalidDate: true })
      .map((d) => d.toISOString()),
    session: name,
    origin: fc.constantFrom("chat", "cron", "heartbeat", "subagent", "api"),
    model: name,
    provider: name,
    input: tokens,
    output: tokens,
    cached: tokens,
    reasoning: tokens,
    latency_ms: tokens,
    cost: fc.double({ min: 0, max: 1e9, noNaN: true }).map(Math.abs),
    estimated: fc.constant(true),
    failed: fc.constant(true),
  },
  {
    requiredKeys: [
      "time",
      "session",
      "origin",
      "model",
      "provider",
      "input",
      "output",
      "cached",
      "reasoning",
      "latency_ms",
    ],
  },
);

test("formatRecord() writes one line that parseRecord() reads back", () => {
  fc.assert(
    fc.property(calls, (entry) => {
      const line = formatRecord(entry);
      expect(line.indexOf("\n")).toBe(line.length - 1);
      expect(parseRecord(line)).toEqual(entry);
    }),
  );
});

test("formatRecord() shortens names and mends their surrogates", () => {
  const line = formatRecord(call({ session: `\ud800${"x".repeat(10_000)}` }));
  expect(parseRecord(line)?.session).toBe(`\ufffd${"x".repeat(499)}`);
});

const damages: readonly [what: string, changes: Record<string, unknown>][] = [
  ["a negative number", { input: -1 }],
  ["a number beyond all numbers", { output: 1e300 }],
  ["a number as text", { cached: "1" }],
  ["a missing number", { reasoning: undefined }],
  ["a negative cost", { cost: -0.1 }],
  ["a cost that is null", { cost: null }],
  ["a time that is none", { time: "2026-13-45T00:00:00Z" }],
  ["a time in no zone", { time: "2026-11-30T00:00:00" }],
  ["a time as a number", { time: 1 }],
  ["an unheard-of origin", { origin: "moon" }],
  ["a session that is no text", { session: {} }],
];
for (const [what, changes] of damages) {
  test(`parseRecord() refuses ${what}`, () => {
    expect(parseRecord(JSON.stringify(call()))).toEqual(call());
    expect(parseRecord(JSON.stringify({ ...call(), ...changes }))).toBeUndefined();
  });
}

test("parseRecord() refuses a number that JSON writes as infinite", () => {
  expect(parseRecord(JSON.stringify(call()).replace('"input":100', '"input":1e999'))).toBeUndefined();
});

test("parseRecord() leaves out keys it does not know", () => {
  expect(parseRecord(JSON.stringify({ ...call(), next_version: 1, failed: "yes" }))).toEqual(call());
});

test("parseRecord() takes any text", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (text) => {
      expect(parseRecord(text)).toBeUndefined();
    }),
  );
});

test("linesOf() gives the lines however the bytes are cut", async () => {
  const line = fc.string({ unit: "binary", maxLength: 20 }).map((text) => text.replaceAll("\n", ""));
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat(30)), async (lines, cuts) => {
      const bytes = Buffer.from(lines.join("\n"));
      const chunks: Uint8Array[] = [];
      let from = 0;
      for (const length of [...cuts, bytes.length]) {
        chunks.push(bytes.subarray(from, from + length));
        from += length;
      }
      const found = await Array.fromAsync(linesOf(streamOf(chunks)));
      expect(found).toEqual(lines.filter((text) => text !== "").map((text) => text.toWellFormed()));
    }),
  );
});

test("linesOf() keeps no more of an endless line than fits one", async () => {
  const chunk = Buffer.alloc(64 * 1024, "x");
  const found = await Array.fromAsync(linesOf(streamOf([...Array(100).fill(chunk), Buffer.from("\nnext")])));
  expect(found.map(({ length }) => length)).toEqual([16 * 1024, 4]);
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { firstDelay, nextBeat } from "../../src/schedule/heartbeat-times.ts";

const intervalMs = 1_800_000;

describe("firstDelay()", () => {
  test("is an interval where nothing beat before", () => {
    expect(firstDelay(undefined, { now: 0, intervalMs })).toBe(intervalMs);
  });

  test("is what the last beat left of the interval", () => {
    expect(firstDelay(1_000_000, { now: 1_600_000, intervalMs })).toBe(1_200_000);
    expect(firstDelay(1_000_000, { now: 99_000_000, intervalMs })).toBe(0);
  });

  test("is within an interval, whatever the clock says", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.integer({ min: 1_000 }), (last, now, every) => {
        const delay = firstDelay(last, { now, intervalMs: every });
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(every);
      }),
    );
  });
});

describe("nextBeat()", () => {
  test("stays on the grid however long a beat took, and makes up for none", () => {
    expect(nextBeat(100, { elapsed: 100, intervalMs: 60 })).toBe(160);
    expect(nextBeat(100, { elapsed: 130, intervalMs: 60 })).toBe(160);
    expect(nextBeat(100, { elapsed: 160, intervalMs: 60 })).toBe(220);
    expect(nextBeat(100, { elapsed: 1_000, intervalMs: 60 })).toBe(1_060);
  });

  test("is never now again when a timer went off early", () => {
    expect(nextBeat(100, { elapsed: 99.5, intervalMs: 60 })).toBe(160);
  });

  test("is later than now, and less than an interval later", () => {
    const ms = fc.nat({ max: 1e9 });
    fc.assert(
      fc.property(ms, ms, fc.integer({ min: 1_000, max: 1e8 }), (due, late, every) => {
        const next = nextBeat(due, { elapsed: due + late, intervalMs: every });
        expect(next).toBeGreaterThan(due + late);
        expect(next - due - late).toBeLessThanOrEqual(every);
        expect((next - due) % every).toBe(0);
      }),
    );
  });
});

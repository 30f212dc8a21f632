import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createIds } from "../../src/platform/ids.ts";

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("next()", () => {
  test("sorts by the order of the calls, whatever clock and chance do", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 2 }),
        fc.infiniteStream(chance),
        (times, chances) => {
          const clock = times.map((time) => 1_700_000_000_000 + time);
          let at = 0;
          const ids = createIds({ now: () => clock[at] ?? 0, random: () => chances.next().value ?? 0 });
          const made = clock.map((_, index) => {
            at = index;
            return ids.next();
          });
          expect(made).toEqual([...new Set(made)].sort());
        },
      ),
    );
  });

  test("consists of 17 lower-case letters and digits, from the first year to a far one", () => {
    for (const now of [0, 1, 1_700_000_000_000, Date.UTC(5000, 0)]) {
      for (const random of [0, 0.5, 1 - Number.EPSILON]) {
        expect(createIds({ now: () => now, random: () => random }).next()).toMatch(/^[0-9a-z]{17}$/);
      }
    }
  });

  test("stays apart from what other processes make in the same millisecond", () => {
    const made = Array.from({ length: 100 }, () => createIds({ now: () => 5, random: Math.random }).next());
    expect(new Set(made).size).toBe(100);
  });
});

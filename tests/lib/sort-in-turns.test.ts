import { expect, test } from "bun:test";
import { createBreather } from "../../src/lib/breather.ts";
import { sortInTurns } from "../../src/lib/sort-in-turns.ts";
import { systemClock } from "../../src/platform/clock.ts";

test.each([0, 1, 2_048, 2_049, 20_000])(
  "sortInTurns() sorts %p items and keeps equals in order",
  async (length) => {
    const items = Array.from({ length }, (_, index) => ({ key: (index * 7_919) % 101, index }));
    const compare = (a: { key: number }, b: { key: number }) => a.key - b.key;
    expect(await sortInTurns(items, compare, createBreather(systemClock))).toEqual(items.toSorted(compare));
  },
);

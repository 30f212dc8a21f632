/** Sorts long lists without keeping the rest of the program waiting. */

import type { Breather } from "./breather.ts";

const RUN = 2_048;
/** About what comparing an item once costs, as reading characters goes. */
const UNITS_AN_ITEM = 100;

export async function sortInTurns<T extends NonNullable<unknown>>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  breather: Breather,
): Promise<T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += RUN) {
    await breather.take(RUN * 11 * UNITS_AN_ITEM);
    runs.push(items.slice(from, from + RUN).sort(compare));
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], compare, breather));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T extends NonNullable<unknown>>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
  breather: Breather,
): Promise<T[]> {
  const merged: T[] = [];
  let [fromLeft, fromRight] = [0, 0];
  while (fromLeft < left.length || fromRight < right.length) {
    if (merged.length % RUN === 0) await breather.take(RUN * UNITS_AN_ITEM);
    const [one, other] = [left[fromLeft], right[fromRight]];
    if (one !== undefined && (other === undefined || compare(one, other) <= 0)) {
      merged.push(one);
      fromLeft++;
    } else if (other !== undefined) {
      merged.push(other);
      fromRight++;
    }
  }
  return merged;
}

/** Which lines stand where they do not belong, and which are nowhere: lines that strayed, and numbers left vacant. */

import type { AuditProblem } from "../core/audit.ts";
import type { Place } from "./written-lines.ts";

/** Ranges of each kind that are remembered. In a worse mess the others are only counted. */
const MOST_RANGES = 1_000;

/** Numbers of lines, both included. */
interface Range {
  readonly from: number;
  readonly to: number;
}

interface PlacedRange extends Range {
  readonly place: Place;
}

export interface Order {
  /** What should stand before `place` does not stand there. */
  vacate(range: Range, place: Place): void;
  isVacant(number: number): boolean;
  /** A line stands where another should, right behind the one that strayed before it, if it `follows`. */
  stray(number: number, place: Place, follows: boolean): void;
  /** `end` should stand behind all that was found. `cutOff` is what of it strayed nowhere. */
  finish(end: Range): {
    readonly problems: readonly AuditProblem[];
    /** How many there are beside them. */
    readonly more: number;
    readonly cutOff: readonly Range[];
  };
}

export function createOrder(): Order {
  const vacant: PlacedRange[] = [];
  const strays: PlacedRange[] = [];
  let more = 0;

  return {
    vacate({ from, to }, place) {
      if (from > to) return;
      if (vacant.length < MOST_RANGES) vacant.push({ from, to, place });
      else more++;
    },
    isVacant: (number) => vacant.some(({ from, to }) => from <= number && number <= to),
    stray(number, place, follows) {
      const last = strays.at(-1);
      if (follows && last?.to === number - 1) strays[strays.length - 1] = { ...last, to: number };
      else if (strays.length < MOST_RANGES) strays.push({ from: number, to: number, place });
      else more++;
    },
    finish(end) {
      const nowhere = vacant.flatMap((range) => without(range, strays));
      return {
        problems: [...strays.map(reordered), ...nowhere.map(missing)],
        more,
        cutOff: end.from > end.to ? [] : without(end, strays),
      };
    },
  };
}

/** What of `range` is in none of `others`. */
function without<R extends Range>(range: R, others: readonly Range[]): readonly R[] {
  let left: readonly R[] = [range];
  for (const { from, to } of others) {
    left = left.flatMap((part) =>
      to < part.from || from > part.to
        ? [part]
        : [
            { ...part, to: from - 1 },
            { ...part, from: to + 1 },
          ].filter((rest) => rest.from <= rest.to),
    );
  }
  return left;
}

function numbers({ from, to }: Range): string {
  return from === to ? `number ${from} of the log` : `numbers ${from} to ${to} of the log`;
}

function missing({ place: { file, line }, ...range }: PlacedRange): AuditProblem {
  return { kind: "missing", file, line, detail: `${numbers(range)} should stand before it` };
}

function reordered({ place: { file, line }, ...range }: PlacedRange): AuditProblem {
  const verb = range.from === range.to ? "stands" : "stand";
  return { kind: "reordered", file, line, detail: `${numbers(range)} ${verb} here, in the place of others` };
}

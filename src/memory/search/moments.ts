/** Times as they are stored, and the moments that they mean. */

import { wallOf } from "../../lib/zoned-time.ts";

const STORED = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?))?(Z|[+-]\d{2}:?\d{2})?$/;

/**
 * A function from a stored time to milliseconds since the epoch, `undefined` for what is none. A time without a zone
 * is of `timeZone`; where the clock was set back and it was that time twice, one of both.
 */
export function createMomentOf(timeZone: string): (stored: string | undefined) => number | undefined {
  // Asking costs more than reading a line, and lines that follow each other are mostly of the same hour.
  let lastHour: string | undefined;
  let lastOffset = 0;

  /** How far the zone's clocks were ahead of UTC. */
  function offsetAt(ms: number): number {
    return wallOf(ms, timeZone) - Math.floor(ms / 1_000) * 1_000;
  }

  return (stored) => {
    const [, day, time = "00:00", zone] = STORED.exec(stored ?? "") ?? [];
    if (day === undefined) return undefined;
    const asUtc = Date.parse(`${day}T${time}${zone ?? "Z"}`);
    if (Number.isNaN(asUtc)) return undefined;
    if (zone !== undefined) return asUtc;
    const hour = `${day}T${time.slice(0, 2)}`;
    if (hour !== lastHour) {
      lastOffset = offsetAt(asUtc - offsetAt(asUtc));
      lastHour = hour;
    }
    return asUtc - lastOffset;
  };
}

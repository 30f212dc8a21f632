/** When the heartbeat beats next. Times are in milliseconds. */

/**
 * How long after the start of the process: what the beat of the process before left of the interval. A last beat that
 * is yet to come was written by a clock that ran ahead, and says nothing.
 */
export function firstDelay(
  lastBeat: number | undefined,
  { now, intervalMs }: { readonly now: number; readonly intervalMs: number },
): number {
  if (lastBeat === undefined || lastBeat > now) return intervalMs;
  return Math.max(0, lastBeat + intervalMs - now);
}

/** The next after the one that was due at `due`, on the same grid. Beats that were missed are not made up for. */
export function nextBeat(
  due: number,
  { elapsed, intervalMs }: { elapsed: number; intervalMs: number },
): number {
  // A timer can go off a little early.
  const passed = Math.max(0, elapsed - due);
  return due + (Math.floor(passed / intervalMs) + 1) * intervalMs;
}

/** How much each session did in the last hour, and what stands against more. */

import type { HourlyLimits } from "../core/background.ts";
import type { Clock } from "../core/platform.ts";
import { usedUpInAnHour } from "./phrases.ts";
import { createRecent } from "./recent.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Counted by the minute. One more than an hour has, because an hour begins within one. */
const MINUTES = 61;
/** Sessions that are counted, those that did something last. */
const MOST_SESSIONS = 2_000;

type Limited = "toolCalls" | "tasks";

export interface HourlyLimitsOptions {
  readonly clock: Pick<Clock, "elapsed">;
  /** In an hour. */
  readonly toolCalls?: number;
  readonly tasks?: number;
  /** A session wants more than one of them: once an hour. Must not throw. */
  readonly onExceeded: (what: Limited, sessionKey: string) => void;
}

/** What was done in a minute since the clock began. */
interface Bucket {
  readonly minute: number;
  count: number;
}

interface Counted {
  readonly toolCalls: Bucket[];
  readonly tasks: Bucket[];
  /** When its limits were last told of. */
  toldAt: number;
}

function total(buckets: readonly Bucket[]): number {
  return buckets.reduce((sum, { count }) => sum + count, 0);
}

function addTo(buckets: Bucket[], minute: number): void {
  const last = buckets.at(-1);
  if (last?.minute === minute) last.count++;
  else buckets.push({ minute, count: 1 });
}

/** What is refused does not count: otherwise somebody who goes on asking would never be let again. */
export function createHourlyLimits({
  clock,
  toolCalls = 1_000,
  tasks = 200,
  onExceeded,
}: HourlyLimitsOptions): HourlyLimits {
  const most = { toolCalls, tasks };
  const sessions = createRecent<Counted>({ most: MOST_SESSIONS });

  function count(what: Limited, sessionKey: string): string | undefined {
    const session = sessions.of(sessionKey, () => ({
      toolCalls: [],
      tasks: [],
      toldAt: Number.NEGATIVE_INFINITY,
    }));
    const buckets = session[what];
    const now = clock.elapsed();
    const minute = Math.floor(now / MINUTE_MS);
    while (buckets[0] !== undefined && buckets[0].minute <= minute - MINUTES) buckets.shift();
    if (total(buckets) < most[what]) {
      addTo(buckets, minute);
      return undefined;
    }
    if (now - session.toldAt >= HOUR_MS) {
      session.toldAt = now;
      onExceeded(what, sessionKey);
    }
    const free = ((buckets[0]?.minute ?? minute) + MINUTES) * MINUTE_MS;
    return usedUpInAnHour(what, most[what], free - now);
  }

  return {
    toolCall: (sessionKey) => count("toolCalls", sessionKey),
    task: (sessionKey) => count("tasks", sessionKey),
  };
}

/** How runs of jobs ended, put together of what the turn came to and of its end. */

import type { TurnEnded } from "../core/events.ts";
import type { InboundId } from "../core/messages.ts";
import type { JobRun } from "../core/schedule.ts";
import { oneLine } from "../lib/text.ts";

const LONGEST_ERROR = 500;
/** Turns whose failure is remembered until they end. */
const MOST_FAILURES = 1_000;

export interface Outcomes {
  failed(id: InboundId, problem: string): void;
  runOf(event: TurnEnded, slotMs: number): JobRun;
}

export function createOutcomes(): Outcomes {
  const failures = new Map<InboundId, string>();
  return {
    failed(id, problem) {
      failures.set(id, oneLine(problem, LONGEST_ERROR));
      const [oldest] = failures.keys();
      if (failures.size > MOST_FAILURES && oldest !== undefined) failures.delete(oldest);
    },

    runOf({ inboundId, status, durationMs }, slotMs) {
      const failure = failures.get(inboundId);
      failures.delete(inboundId);
      if (status !== "failed" && status !== "stopped") return { runAtMs: slotMs, status: "ok", durationMs };
      const error = status === "stopped" ? "stopped" : (failure ?? "failed");
      return { runAtMs: slotMs, status: "error", durationMs, error };
    },
  };
}

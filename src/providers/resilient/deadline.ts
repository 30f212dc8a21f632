/** The time that all attempts of one request may take together. */

import type { ChatFailure, ModelError } from "../../core/model.ts";
import type { Clock } from "../../core/platform.ts";
import { limitSignal } from "../../lib/abort.ts";
import { ABORTED } from "../../lib/aborted.ts";

export interface Deadline {
  /** Aborts at the deadline, and with the caller's signal. */
  readonly signal: AbortSignal;
  /** In milliseconds. */
  left(): number;
  /** What to say when `signal` has aborted. `last` is what went wrong before that. */
  failure(reply: ChatFailure, last: ModelError | undefined): ChatFailure;
  stop(): void;
}

export function createDeadline(clock: Clock, ms: number, caller: AbortSignal): Deadline {
  const started = clock.elapsed();
  const { signal, release } = limitSignal(caller, { clock, ms });
  return {
    signal,
    left: () => ms - (clock.elapsed() - started),
    failure(reply, last) {
      if (caller.aborted) return { ...reply, error: ABORTED };
      const why = last === undefined ? "" : `: ${last.message}`;
      const message = `No answer came within ${span(ms)}${why}`;
      return { ...reply, error: { kind: "transient", message } };
    },
    stop: release,
  };
}

function span(ms: number): string {
  if (ms < 120_000) return `${Math.ceil(ms / 1_000)} seconds`;
  return `${Math.round(ms / 60_000)} minutes`;
}

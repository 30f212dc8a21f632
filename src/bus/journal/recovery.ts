/** Takes up work again after an error: whenever somebody asks, and by itself after longer and longer times. */

import type { Clock } from "../../core/platform.ts";

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

export interface Recovery {
  /** Something failed. */
  begin(): void;
  /** Tries once, together with everybody else who asks meanwhile. */
  attempt(): Promise<void>;
  /** It works again, or nobody needs it any more. */
  end(): void;
}

/** `restore` never rejects, and says `end` when it was of use. */
export function createRecovery(clock: Pick<Clock, "after">, restore: () => Promise<void>): Recovery {
  let attempting: Promise<void> | undefined;
  let callOff: (() => void) | undefined;

  function attempt(): Promise<void> {
    attempting ??= restore().finally(() => {
      attempting = undefined;
    });
    return attempting;
  }

  function end(): void {
    callOff?.();
    callOff = undefined;
  }

  function retryIn(ms: number): void {
    end();
    const current = clock.after(ms, async () => {
      await attempt();
      // Otherwise it has ended, and may have begun anew.
      if (callOff === current) retryIn(Math.min(ms * 2, LONGEST_RETRY_MS));
    });
    callOff = current;
  }

  return {
    begin: () => retryIn(FIRST_RETRY_MS),
    attempt,
    end,
  };
}

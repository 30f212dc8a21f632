/** What `/ready` answers. Anybody may ask, so that asking often costs no more than asking once. */

import type { Clock, Log } from "../core/platform.ts";
import { abortable, limitSignal, never } from "../lib/abort.ts";

/** What keeps the gateway from its work, without secrets; empty when nothing does. */
export type Readiness = () => Promise<readonly string[]>;

interface ReadinessOptions {
  readonly ready: Readiness;
  readonly clock: Clock;
  readonly log: Log;
}

const FRESH_MS = 1_000;
/** A disk that hangs is an answer too. */
const TIMEOUT_MS = 5_000;

/** Never rejects. */
export function createReadiness({ ready, clock, log }: ReadinessOptions): Readiness {
  let last: { readonly at: number; readonly reasons: Promise<readonly string[]> } | undefined;

  async function look(): Promise<readonly string[]> {
    const limit = limitSignal(never, {
      clock,
      ms: TIMEOUT_MS,
      reason: () => new Error(`the checks took longer than ${TIMEOUT_MS / 1000} s`),
    });
    try {
      return await abortable(ready(), limit.signal);
    } catch (error) {
      log.error("The gateway cannot tell whether it is ready", { error });
      return ["it could not be checked"];
    } finally {
      limit.release();
    }
  }

  return () => {
    const now = clock.elapsed();
    if (last === undefined || now - last.at >= FRESH_MS) last = { at: now, reasons: look() };
    return last.reasons;
  };
}

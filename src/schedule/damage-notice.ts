/** Tells the owner that the file of the jobs cannot be read: until it is mended, jobs may be missed. */

import type { Log } from "../core/platform.ts";
import { jobsDamaged } from "../lib/phrases.ts";
import type { JobsSnapshot } from "./jobs.ts";

/** An editor that writes in place leaves half a file for a moment. */
const PATIENCE_MS = 60_000;

export interface DamageNoticeOptions {
  /** Once for each `id`. */
  readonly tellOwner: (text: string, id: string) => Promise<void>;
  readonly log: Log;
}

/** The returned function gives the time of the next look at damage that may be over by then. Never throws. */
export function createDamageNotice({
  tellOwner,
  log,
}: DamageNoticeOptions): (damage: JobsSnapshot["damage"], nowMs: number) => number | undefined {
  let seen: JobsSnapshot["damage"];
  let seenMs = 0;
  let told: JobsSnapshot["damage"];

  return (damage, nowMs) => {
    if (damage === undefined || damage === told) return undefined;
    if (damage !== seen) seenMs = nowMs;
    seen = damage;
    // A clock that was put back is no reason to wait for it.
    if (Math.abs(nowMs - seenMs) < PATIENCE_MS) return nowMs + PATIENCE_MS;
    told = damage;
    tellOwner(jobsDamaged(damage.problem), `jobs-damaged:${damage.modifiedMs}`).catch((error: unknown) =>
      log.warn("The owner was not told of the file of the jobs", { error }),
    );
    return undefined;
  };
}

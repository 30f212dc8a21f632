/** Ids for tool calls that came without one, or with another's. */

import type { Clock } from "../../core/platform.ts";

/** No two are the same, after a restart neither. */
export function createCallIds(clock: Clock): () => string {
  let made = 0;
  return () => `call_${clock.now().toString(36)}_${++made}`;
}

/** What a process that answered once still puts into memory, while somebody waits for it to end. */

import type { Consolidation } from "../core/memory.ts";
import type { Clock, Terminal } from "../core/platform.ts";
import { limitSignal } from "../lib/abort.ts";
import { LAST_MEMORY } from "../lib/phrases.ts";

/** What takes longer is found again by the next gateway. */
const LONGEST_MS = 30_000;
/** So long nobody wonders. */
const SILENT_MS = 1_000;

/** Resolves when it is done, or given up: at once when `signal` aborts. */
export async function putIntoMemory(
  consolidation: Pick<Consolidation, "settled">,
  {
    clock,
    terminal,
  }: { readonly clock: Pick<Clock, "after">; readonly terminal: Pick<Terminal, "stderrIsTty" | "err"> },
  signal: AbortSignal,
): Promise<void> {
  const limit = limitSignal(signal, { clock, ms: LONGEST_MS });
  const callOff = clock.after(SILENT_MS, () => {
    if (terminal.stderrIsTty && !signal.aborted) terminal.err(`${LAST_MEMORY}\n`);
  });
  await consolidation.settled(limit.signal);
  callOff();
  limit.release();
}

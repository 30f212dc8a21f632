/** Removes what kills in the middle of writing a file have left, which nobody else would ever look at. */

import type { Clock, FileSystem, Log } from "../../core/platform.ts";
import { join } from "../../lib/path.ts";
import { isTemporaryName } from "../../lib/temporary-name.ts";

/** Other programs of the workspace write there too, and never take as long. */
const LEAST_AGE_MS = 60 * 60_000;
const MOST_LISTED = 10_000;

/** Never rejects: that there is more than need be keeps nothing from working. */
export async function sweepTemporaries(
  { files, clock, log }: { files: FileSystem; clock: Pick<Clock, "now">; log: Log },
  folder: string,
): Promise<void> {
  try {
    if ((await files.stat(folder)) === undefined) return;
    const { entries } = await files.list(folder, { limit: MOST_LISTED });
    for (const { name, kind } of entries) {
      if (kind !== "file" || !isTemporaryName(name)) continue;
      const path = join(folder, name);
      const found = await files.linkStat(path);
      if (found !== undefined && found.modifiedMs < clock.now() - LEAST_AGE_MS) await files.remove(path);
    }
  } catch (error) {
    log.debug("What was left of files could not be removed", { folder, error });
  }
}

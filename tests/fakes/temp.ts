/** A folder of its own for a test. `tests/setup.ts` removes all of them at the end. */

import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Absolute and real. */
export function tempFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "nanobot-")));
}

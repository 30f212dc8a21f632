/** A folder of its own for a test, gone afterwards. */

import { afterAll } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

/** Absolute and real. */
export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "nanobot-")));
  made.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Keeps tool results that are too long for the model in files it can read piece by piece. */

import { Buffer } from "node:buffer";
import type { Clock, FileSystem } from "../core/platform.ts";
import { join } from "../lib/path.ts";
import { encodeSessionKey } from "../lib/session-key.ts";

const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const LISTED = 10_000;

/** Where the results of one session lie, relative to the workspace. */
export function spillFolder(sessionKey: string): string {
  return join(".nanobot", "tool-results", encodeSessionKey(sessionKey));
}

export interface SpillOptions {
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly workspace: string;
}

/** Writes results to `.nanobot/tool-results/<session>/<call>.txt`. Folders unused for 7 days are removed. */
export function createSpill({ files, clock, workspace }: SpillOptions) {
  let swept = false;

  /** Once a process is enough: results are few and small. */
  async function sweep(): Promise<void> {
    if (swept) return;
    swept = true;
    const all = join(workspace, ".nanobot", "tool-results");
    if ((await files.stat(all)) === undefined) return;
    for (const { name } of (await files.list(all, { limit: LISTED })).entries) {
      const folder = join(all, name);
      const stat = await files.linkStat(folder);
      if (stat !== undefined && clock.now() - stat.modifiedMs > KEPT_MS) await files.remove(folder);
    }
  }

  return async (sessionKey: string, callId: string, text: string): Promise<string> => {
    await sweep();
    const path = join(spillFolder(sessionKey), `${callId}.txt`);
    await files.makeFolder(join(workspace, spillFolder(sessionKey)), { mode: 0o700 });
    await files.replace(join(workspace, path), Buffer.from(text), { mode: 0o600 });
    return path;
  };
}

/** Keeps tool results that are too long for the model in files it can read piece by piece. */

import { Buffer } from "node:buffer";
import type { Clock, FileSystem } from "../core/platform.ts";
import { HIDDEN } from "../lib/own-places.ts";
import { join } from "../lib/path.ts";
import { encodeSessionKey } from "../lib/session-key.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const KEPT_MS = 7 * DAY_MS;
const SWEEP_EVERY_MS = DAY_MS;
const LISTED = 10_000;

/** Where the results of one session lie, relative to the workspace. */
export function spillFolder(sessionKey: string): string {
  return join(HIDDEN, "tool-results", encodeSessionKey(sessionKey));
}

export interface SpillOptions {
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly workspace: string;
}

/** Writes results to `.nanobot/tool-results/<session>/<call>.txt`, and removes those older than 7 days. */
export function createSpill({ files, clock, workspace }: SpillOptions) {
  const all = join(workspace, HIDDEN, "tool-results");
  let sweptAt = Number.NEGATIVE_INFINITY;

  async function names(folder: string): Promise<readonly string[]> {
    if ((await files.stat(folder))?.kind !== "directory") return [];
    return (await files.list(folder, { limit: LISTED })).entries.map(({ name }) => join(folder, name));
  }

  async function sweep(): Promise<void> {
    const now = clock.now();
    if (now - sweptAt < SWEEP_EVERY_MS) return;
    sweptAt = now;
    for (const folder of await names(all)) {
      const results = await names(folder);
      const stats = await Promise.all(results.map((path) => files.linkStat(path)));
      const isOld = (index: number) => now - (stats[index]?.modifiedMs ?? now) > KEPT_MS;
      const old = results.filter((_, index) => isOld(index));
      for (const path of old.length === results.length ? [folder] : old) await files.remove(path);
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

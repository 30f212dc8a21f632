/** The files of memory as one store, which one process changes at a time. */

import type { MemoryStore } from "../core/memory.ts";
import type { Clock, FileSystem, Locks, Log } from "../core/platform.ts";
import { never } from "../lib/abort.ts";
import { HIDDEN } from "../lib/own-places.ts";
import { join } from "../lib/path.ts";
import { createFacts } from "./facts.ts";
import { createHistory } from "./history.ts";

export interface MemoryStoreOptions {
  readonly files: FileSystem;
  readonly locks: Locks;
  readonly clock: Clock;
  readonly log: Log;
  /** Absolute and real. */
  readonly workspace: string;
  /** The agent's, in which the history says when something was. Asked when a time is first written or read. */
  readonly timeZone: () => string;
}

export function createMemoryStore({
  files,
  locks,
  clock,
  log,
  workspace,
  timeZone,
}: MemoryStoreOptions): MemoryStore {
  const folder = join(workspace, "memory");
  const history = createHistory({ files, folder, timeZone });
  const facts = createFacts({
    files,
    clock,
    log,
    path: join(folder, "MEMORY.md"),
    folder: join(workspace, HIDDEN, "memory"),
  });

  async function alone<T>(work: () => Promise<T>): Promise<T> {
    const lock = await locks.acquire(`memory:${workspace}`, never);
    try {
      return await work();
    } finally {
      await lock.release();
    }
  }

  return {
    get timeZone() {
      return timeZone();
    },
    ...facts,
    ...history,
    replaceFacts: (text, options) => alone(() => facts.replaceFacts(text, options)),
    keepVersion: (next) => alone(() => facts.keepVersion(next)),
    appendHistory: (text, options) => alone(() => history.appendHistory(text, options)),
  };
}

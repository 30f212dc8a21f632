/** The record of calls to models: `.nanobot/usage.jsonl` of the workspace, written behind everybody's back. */

import type { Clock, FileSystem, Locks, Log } from "../core/platform.ts";
import type { UsageRecord, UsageStore } from "../core/usage.ts";
import { explained } from "../lib/file-error.ts";
import { HIDDEN } from "../lib/own-places.ts";
import { join } from "../lib/path.ts";
import { createRotatingFile } from "../lib/rotating-file.ts";
import { createWriteBehind } from "../lib/write-behind.ts";
import { formatRecord, linesOf, parseRecord } from "./lines.ts";
import { summarise } from "./report.ts";

/** Calls that wait for a disk that does not answer. */
const MAX_WAITING = 10_000;
/** Looking at the file and writing to it cost more than most calls are worth, so they are done for many at once. */
const WRITE_EVERY_MS = 1_000;
/** File systems keep the time of the last change in steps of up to two seconds. */
const CHANGE_TIME_STEP_MS = 2000;

export interface UsageStoreOptions {
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly locks: Locks;
  readonly log: Log;
  /** Absolute and real. */
  readonly workspace: string;
  readonly timeZone: string;
  readonly maxBytes?: number;
}

export function createUsageStore({
  files,
  clock,
  locks,
  log,
  workspace,
  timeZone,
  maxBytes,
}: UsageStoreOptions): UsageStore {
  const folder = join(workspace, HIDDEN);
  const file = createRotatingFile({ files, locks, folder, name: "usage", maxBytes });
  const { add: record, flush } = createWriteBehind<UsageRecord>({
    write: (take) => file.append(take().entries.map(formatRecord).join("")),
    what: "what calls to models used",
    path: file.path,
    log,
    clock,
    delayMs: WRITE_EVERY_MS,
    mostWaiting: MAX_WAITING,
  });

  async function* read({
    since = 0,
    signal,
  }: {
    since?: number;
    signal: AbortSignal;
  }): AsyncGenerator<UsageRecord> {
    await flush();
    let damaged = 0;
    // A file that is renamed between two others would be read twice or not at all.
    const held = await file.hold(signal);
    try {
      for (const path of file.paths) {
        const found = await files.stat(path);
        if (found === undefined || found.modifiedMs + CHANGE_TIME_STEP_MS < since) continue;
        for await (const line of linesOf(files.stream(path, { signal }))) {
          const entry = parseRecord(line);
          if (entry === undefined) damaged++;
          else if (Date.parse(entry.time) >= since) yield entry;
        }
      }
    } finally {
      await held.release();
    }
    if (damaged > 0) log.warn("Left damaged lines of the record of usage out", { folder, lines: damaged });
  }

  return {
    timeZone,
    record,
    flush,
    read,
    summarise: ({ by, ...options }) =>
      explained("read the record of usage in", folder, () => summarise(read(options), { by, timeZone })),
  };
}

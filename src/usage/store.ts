/** The record of calls to models: `.nanobot/usage.jsonl` of the workspace, written behind everybody's back. */

import type { Clock, FileSystem, Locks, Log } from "../core/platform.ts";
import type { UsageRecord, UsageStore } from "../core/usage.ts";
import { explained } from "../lib/file-error.ts";
import { join } from "../lib/path.ts";
import { createRotatingFile } from "../lib/rotating-file.ts";
import { formatRecord, linesOf, parseRecord } from "./lines.ts";
import { summarise } from "./report.ts";

const MAX_BYTES = 16 * 1024 * 1024;
const KEEP = 8;
/** Calls that wait for a disk that does not answer. */
const MAX_WAITING = 10_000;
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
  maxBytes = MAX_BYTES,
}: UsageStoreOptions): UsageStore {
  const folder = join(workspace, ".nanobot");
  const file = createRotatingFile({ files, locks, folder, name: "usage", maxBytes, keep: KEEP });
  let waiting: UsageRecord[] = [];
  let writing: Promise<void> | undefined;
  let callOff: (() => void) | undefined;
  /** Calls lost since the last one that was written. */
  let lost = 0;

  function lose(calls: number, error: unknown): void {
    if (lost === 0) log.warn("Could not record what calls to models used", { path: file.path, error });
    lost += calls;
  }

  async function write(batch: readonly UsageRecord[]): Promise<void> {
    try {
      await file.append(batch.map(formatRecord).join(""));
      if (lost > 0) log.info("Calls to models are recorded again", { path: file.path, lost });
      lost = 0;
    } catch (error) {
      lose(batch.length, error);
    }
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await write(batch);
    }
  }

  function startWriting(): Promise<void> {
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  /** Looking at the file and writing to it cost more than most calls are worth, so they are done for many at once. */
  function writeLater(): void {
    callOff ??= clock.after(WRITE_EVERY_MS, () => {
      callOff = undefined;
      void startWriting();
    });
  }

  function record(entry: UsageRecord): void {
    if (waiting.length < MAX_WAITING) waiting.push(entry);
    else lose(1, "the disk does not answer");
    writeLater();
  }

  async function flush(): Promise<void> {
    callOff?.();
    callOff = undefined;
    do await startWriting();
    while (waiting.length > 0);
  }

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

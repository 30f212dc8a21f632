/** The record of every call of a tool: `.nanobot/audit.jsonl` of the workspace, written behind everybody's back. */

import type { AuditEntry, AuditLog } from "../core/audit.ts";
import type { Clock, FileSystem, Ids, Locks, Log } from "../core/platform.ts";
import { join } from "../lib/path.ts";
import { createChainedFile } from "./chained-file.ts";
import { formatEntry } from "./entry.ts";
import { createAuditReader } from "./reader.ts";

const MAX_BYTES = 16 * 1024 * 1024;
/** Characters of calls that wait for a disk that does not answer. */
const MAX_WAITING = 16 * 1024 * 1024;
/** Of one write. */
const MAX_WRITE = 1024 * 1024;
const ANCHOR_EVERY_MS = 1_000;

export interface AuditLogOptions {
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly locks: Locks;
  readonly log: Log;
  /** Absolute and real. */
  readonly workspace: string;
  readonly maxBytes?: number;
}

export function createAuditLog({
  files,
  clock,
  ids,
  locks,
  log,
  workspace,
  maxBytes = MAX_BYTES,
}: AuditLogOptions): AuditLog {
  const folder = join(workspace, ".nanobot");
  const file = createChainedFile({ files, locks, folder, maxBytes });
  let waiting: string[] = [];
  let waitingChars = 0;
  let writing: Promise<void> | undefined;
  let anchoring: Promise<void> = Promise.resolve();
  let callOff: (() => void) | undefined;
  /** There are lines that the anchor does not cover. */
  let isBehind = false;
  /** Calls lost since the last one that was written. */
  let lost = 0;

  function lose(calls: number, error: unknown): void {
    if (lost === 0) log.warn("Could not record calls of tools", { path: file.path, error });
    lost += calls;
  }

  /** What came while the write before was running goes into one. */
  function takeWaiting(): readonly string[] {
    let chars = 0;
    let count = 0;
    while (count < waiting.length && chars < MAX_WRITE) chars += waiting[count++]?.length ?? 0;
    const taken = waiting.slice(0, count);
    waiting = waiting.slice(count);
    waitingChars -= chars;
    return taken;
  }

  async function write(): Promise<void> {
    let taken: readonly string[] | undefined;
    try {
      await file.append(() => {
        taken = takeWaiting();
        return taken;
      });
      isBehind = true;
      anchorLater();
      if (lost > 0) log.info("Calls of tools are recorded again", { path: file.path, lost });
      lost = 0;
    } catch (error) {
      lose((taken ?? takeWaiting()).length, error);
    }
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) await write();
  }

  function startWriting(): Promise<void> {
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  async function anchor(): Promise<void> {
    if (!isBehind) return;
    isBehind = false;
    try {
      await file.anchor();
    } catch (error) {
      isBehind = true;
      log.warn("Could not anchor the end of the audit log", { path: file.headPath, error });
    }
  }

  function startAnchoring(): Promise<void> {
    anchoring = anchoring.then(anchor);
    return anchoring;
  }

  function anchorLater(): void {
    callOff ??= clock.after(ANCHOR_EVERY_MS, () => {
      callOff = undefined;
      void startAnchoring();
    });
  }

  function record(entry: AuditEntry): void {
    const time = new Date(clock.now()).toISOString();
    const fields = formatEntry(entry, { id: ids.next(), time });
    if (waitingChars + fields.length <= MAX_WAITING) {
      waiting.push(fields);
      waitingChars += fields.length;
    } else lose(1, "the disk does not answer");
    void startWriting();
  }

  async function flush(): Promise<void> {
    do await startWriting();
    while (waiting.length > 0);
    callOff?.();
    callOff = undefined;
    await startAnchoring();
  }

  return { record, flush, ...createAuditReader({ files, log, folder, file, flush }) };
}

/** The record of every call of a tool: `.nanobot/audit.jsonl` of the workspace, written behind everybody's back. */

import type { AuditEntry, AuditLog } from "../core/audit.ts";
import type { Clock, FileSystem, Ids, Locks, Log } from "../core/platform.ts";
import { HIDDEN } from "../lib/own-places.ts";
import { join } from "../lib/path.ts";
import { createWriteBehind } from "../lib/write-behind.ts";
import { createChainedFile } from "./chained-file.ts";
import { formatEntry } from "./entry.ts";
import { createAuditReader } from "./reader.ts";

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
  maxBytes,
}: AuditLogOptions): AuditLog {
  const folder = join(workspace, HIDDEN);
  const file = createChainedFile({ files, locks, folder, maxBytes });
  let anchoring: Promise<void> = Promise.resolve();
  let callOff: (() => void) | undefined;
  /** There are lines that the anchor does not cover. */
  let isBehind = false;

  const queue = createWriteBehind<string>({
    async write(take) {
      await file.append(take);
      isBehind = true;
      anchorLater();
    },
    what: "calls of tools",
    path: file.path,
    log,
    clock,
    sizeOf: ({ length }) => length,
    mostWaiting: MAX_WAITING,
    mostInBatch: MAX_WRITE,
  });

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
    queue.add(formatEntry(entry, { id: ids.next(), time }));
  }

  async function flush(): Promise<void> {
    await queue.flush();
    callOff?.();
    callOff = undefined;
    await startAnchoring();
  }

  return { record, flush, ...createAuditReader({ files, log, folder, file, flush }) };
}

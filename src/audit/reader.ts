/** Reads the log as it is at one moment: newest first for people, oldest first for the check of its chain. */

import type { AuditLog, AuditRecord } from "../core/audit.ts";
import { UserError } from "../core/errors.ts";
import type { FileSystem, Log } from "../core/platform.ts";
import { asBuffer } from "../lib/bytes.ts";
import { explained } from "../lib/file-error.ts";
import { HIDDEN } from "../lib/own-places.ts";
import { basename } from "../lib/path.ts";
import { linesFromEnd, linesFromStart } from "../lib/placed-lines.ts";
import type { ChainedFile, Snapshot } from "./chained-file.ts";
import { parseRecord } from "./entry.ts";
import { verifyChain } from "./verify.ts";
import type { WrittenLine } from "./written-lines.ts";

/** File systems keep the time of the last change in steps of up to two seconds. */
const CHANGE_TIME_STEP_MS = 2_000;

export interface AuditReaderOptions {
  readonly files: FileSystem;
  readonly log: Log;
  readonly folder: string;
  readonly file: ChainedFile;
  /** Resolves when what this process recorded is in the file. */
  readonly flush: () => Promise<void>;
}

export function createAuditReader({
  files,
  log,
  folder,
  file,
  flush,
}: AuditReaderOptions): Pick<AuditLog, "list" | "find" | "verify"> {
  const reading = <T>(work: () => Promise<T>) => explained("read the audit log in", folder, work);

  async function look(signal: AbortSignal) {
    await flush();
    return reading(() => file.look(signal));
  }

  async function* newestFirst(snapshot: Snapshot, since: number): AsyncGenerator<AuditRecord> {
    let damaged = 0;
    for (const { path, bytes } of snapshot.files.toReversed()) {
      const found = await files.stat(path);
      if (found === undefined || found.modifiedMs + CHANGE_TIME_STEP_MS < since) continue;
      for await (const line of linesFromEnd(files, path, bytes)) {
        const entry = parseRecord(asBuffer(line.bytes).toString("utf8"));
        if (entry === undefined) damaged++;
        else if (Date.parse(entry.time) >= since) yield entry;
      }
    }
    // A line that a crash cut short may be among them, so that this alone is no reason to worry.
    if (damaged > 0) log.info("Left unreadable lines of the audit log out", { folder, lines: damaged });
  }

  async function* list(
    { session, tool, since = 0 }: Parameters<AuditLog["list"]>[0],
    signal: AbortSignal,
  ): AsyncGenerator<AuditRecord> {
    const { snapshot, held } = await look(signal);
    try {
      for await (const entry of newestFirst(snapshot, since)) {
        signal.throwIfAborted();
        const isOfSession = session === undefined || entry.session === session;
        if (isOfSession && (tool === undefined || entry.tool === tool)) yield entry;
      }
    } finally {
      await held.release();
    }
  }

  async function* oldestFirst(snapshot: Snapshot, signal: AbortSignal): AsyncGenerator<WrittenLine> {
    for (const { path, bytes: length } of snapshot.files) {
      const name = nameOf(path);
      let line = 0;
      for await (const { at, bytes } of linesFromStart(firstBytes(length, files.stream(path, { signal })))) {
        line++;
        yield { file: name, line, bytes, isTerminated: at + bytes.length < length };
      }
    }
  }

  return {
    list,
    find: (id, signal) =>
      reading(async () => {
        for await (const entry of list({}, signal)) if (entry.id === id || entry.call === id) return entry;
        return undefined;
      }),
    async verify(signal) {
      const { snapshot, held } = await look(signal);
      try {
        const { head } = snapshot;
        if (head === "newer") throw new UserError("The audit log is of a newer version of this program");
        const names = { log: nameOf(file.path), head: nameOf(file.headPath) };
        return await reading(() => verifyChain(oldestFirst(snapshot, signal), { head, names }));
      } finally {
        await held.release();
      }
    },
  };
}

/** As people know it, from the workspace on. */
function nameOf(path: string): string {
  return `${HIDDEN}/${basename(path)}`;
}

/** What is added meanwhile belongs to another moment. */
async function* firstBytes(length: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = length;
  if (left === 0) return;
  for await (const chunk of chunks) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}

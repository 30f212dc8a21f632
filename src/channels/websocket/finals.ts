/** The answers of each chat, kept on disk for clients that come back: after a restart of theirs, or of ours. */

import { Buffer } from "node:buffer";
import * as v from "valibot";
import { UserError } from "../../core/errors.ts";
import type { AppendFile, Clock, FileSystem, Log } from "../../core/platform.ts";
import { isObject } from "../../lib/is-object.ts";
import { parseJson } from "../../lib/parse-json.ts";
import { join } from "../../lib/path.ts";
import { createKept, type Kept } from "./kept.ts";
import { type FinalRecord, finalRecord } from "./record.ts";

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const MAX_BYTES = 16 * 1024 * 1024;
const HEADER = `${JSON.stringify({ v: 1 })}\n`;

export interface FinalsOptions {
  readonly files: FileSystem;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly folder: string;
  readonly keepMessages: number;
  readonly keepSeconds: number;
  readonly maxBytes?: number | undefined;
}

export interface Finals extends Pick<Kept, "has" | "after" | "lost" | "latest" | "highest"> {
  /** Resolves when it is on disk; only then is it one of those that are kept. */
  add(record: FinalRecord): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  readonly record: FinalRecord;
  readonly line: string;
  readonly done: PromiseWithResolvers<void>;
}

/** What a line says of answers that are not kept any more. */
const lostRecord = v.object({
  lost: v.record(v.string(), v.pipe(v.number(), v.safeInteger())),
  floor: v.number(),
});

/** Rejects with a `UserError` when the file is of a newer version, which is left as it is. */
export async function openFinals({
  files,
  clock,
  log,
  folder,
  keepMessages,
  keepSeconds,
  maxBytes = MAX_BYTES,
}: FinalsOptions): Promise<Finals> {
  const path = join(folder, "finals.jsonl");
  const kept = createKept({ keepMessages, keepMs: keepSeconds * 1000 });
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  /** None when there is no file yet, or when it is not known what the last write left in it. */
  let file: AppendFile | undefined;
  let bytes = 0;
  let begin = "";
  let isClosed = false;

  async function load(): Promise<void> {
    if ((await files.stat(path)) === undefined) return;
    const content = await files.read(path);
    const lines = new TextDecoder().decode(content).split("\n");
    const torn = lines.pop() ?? "";
    const skipped = lines.filter((line, index) => !take(line, index === 0)).length;
    if (skipped > 0) log.warn("Skipped damaged lines", { path, lines: skipped });
    begin = torn === "" ? "" : "\n";
    file = await files.openAppend(path, { mode: FILE_MODE });
    bytes = content.length;
  }

  function take(line: string, isFirst: boolean): boolean {
    const json = parseJson(line);
    if (isFirst) return isHeader(json);
    const lost = v.safeParse(lostRecord, json);
    if (lost.success) kept.restore(lost.output);
    const record = v.safeParse(finalRecord, json);
    if (record.success) kept.add(record.output, Buffer.byteLength(line) + 1);
    // An empty line is where a torn one was closed.
    return lost.success || record.success || line === "";
  }

  function isHeader(json: unknown): boolean {
    const version = isObject(json) ? json["v"] : undefined;
    if (typeof version === "number" && version > 1) {
      throw new UserError(`Cannot use "${path}": it was written by a newer version of nanobot`, {
        hint: "Update nanobot, or move the file away",
      });
    }
    return version === 1;
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
    const lines = batch.map(({ line }) => line).join("");
    const added = Buffer.byteLength(lines);
    if (file === undefined || bytes + added > maxBytes) return rewrite(lines);
    await file.append(Buffer.from(begin + lines));
    await file.sync();
    bytes += begin.length + added;
    begin = "";
  }

  /** In place of whatever is there: what is kept, and then `lines`. */
  async function rewrite(lines: string): Promise<void> {
    await closeFile();
    // Room for as much again, so that it is not written anew each time.
    kept.shrink(maxBytes / 2);
    const records = current()
      .records()
      .map((record) => lineOf(record));
    const content = Buffer.from([HEADER, lineOf(kept.losses()), ...records, lines].join(""));
    await files.makeFolder(folder, { mode: FOLDER_MODE });
    await files.replace(path, content, { mode: FILE_MODE });
    file = await files.openAppend(path, { mode: FILE_MODE });
    bytes = content.length;
    begin = "";
  }

  async function closeFile(): Promise<void> {
    const open = file;
    file = undefined;
    await open?.close();
  }

  async function writeBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      await write(batch);
    } catch (error) {
      for (const { done } of batch) done.reject(error);
      await closeFile().catch((cause) => log.warn("Could not close a file", { path, error: cause }));
      return;
    }
    for (const { record, line, done } of batch) {
      kept.add(record, Buffer.byteLength(line));
      done.resolve();
    }
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await writeBatch(batch);
    }
    // At once: whoever hears that his is written may add another before anything else runs.
    writing = undefined;
  }

  function current(): Kept {
    kept.expire(clock.now());
    return kept;
  }

  await load();
  return {
    has: kept.has,
    after: (chat, seq) => current().after(chat, seq),
    lost: (chat) => current().lost(chat),
    latest: (chat) => current().latest(chat),
    highest: kept.highest,
    async add(record) {
      // What is opened next is another's file.
      if (isClosed) throw new Error("the answers of the websocket channel are closed");
      const done = Promise.withResolvers<void>();
      waiting.push({ record, line: lineOf(record), done });
      writing ??= writeAll();
      await done.promise;
    },
    async close() {
      isClosed = true;
      await writing;
      await closeFile();
    },
  };
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

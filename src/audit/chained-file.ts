/** The files of the log as a chain: adds lines behind the last one, whoever wrote it, and anchors the end. */

import type { FileSystem, Lock, Locks } from "../core/platform.ts";
import { never } from "../lib/abort.ts";
import { join } from "../lib/path.ts";
import { createRotatingFile } from "../lib/rotating-file.ts";
import type { Batch } from "../lib/write-behind.ts";
import { BEGINNING, type Found, type Mark, seal } from "./chain.ts";
import { type AuditHead, type HeadState, readHead, writeHead } from "./head.ts";
import { readTail } from "./tail.ts";

const FOLDER_MODE = 0o700;

export interface ChainedFileOptions {
  readonly files: FileSystem;
  readonly locks: Locks;
  readonly folder: string;
  readonly maxBytes?: number | undefined;
}

/** The log at one moment. */
export interface Snapshot {
  readonly head: HeadState;
  /** Its files that are there, oldest first, and how long they were. Only the last one can have grown since. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
}

export interface ChainedFile {
  readonly path: string;
  readonly headPath: string;
  /** Adds the entries that `take` gives once nobody else writes. Rejects when it is not known which were written. */
  append(take: () => Batch<string>): Promise<void>;
  /** Moves the anchor to the last line, after that line is on disk. */
  anchor(): Promise<void>;
  /** As long as `held` is not released, no file is renamed. */
  look(signal: AbortSignal): Promise<{ readonly snapshot: Snapshot; readonly held: Lock }>;
}

/** What this process knows of the end of the log, as long as nobody else adds to it. */
interface End {
  readonly mark: Mark;
  /** For the next line to say. */
  readonly found: Found;
  readonly start: Mark | null;
  readonly inode: number | undefined;
  readonly bytes: number;
}

export function createChainedFile({ files, locks, folder, maxBytes }: ChainedFileOptions): ChainedFile {
  const file = createRotatingFile({ files, locks, folder, name: "audit", maxBytes, onRotation });
  const { path } = file;
  const headPath = join(folder, "audit.head");
  let end: End | undefined;
  /** The last line that this process knows to have been there. */
  let seen = BEGINNING;

  async function sizeNow(): Promise<Pick<End, "inode" | "bytes">> {
    const found = await files.stat(path);
    return { inode: found?.inode, bytes: found?.bytes ?? 0 };
  }

  async function currentEnd(): Promise<End> {
    const size = await sizeNow();
    if (end?.inode === size.inode && end?.bytes === size.bytes) return end;
    end = await readEnd(size);
    return end;
  }

  async function readEnd(size: Pick<End, "inode" | "bytes">): Promise<End> {
    const head = await requireKnownVersion();
    const tail = await readTail(files, file.paths);
    const isLost = head === "damaged" || (head === "missing" && !tail.isEmpty);
    const anchored = typeof head === "string" ? BEGINNING : head;
    return {
      // Where lines are gone that were anchored, or that we saw, the chain goes on behind them: so the hole stays visible.
      mark: [anchored, seen, tail.mark ?? BEGINNING].reduce(later),
      found: {
        ...(tail.torn === undefined ? {} : { torn: tail.torn }),
        ...(isLost ? { anchor: head } : {}),
      },
      start: typeof head === "string" ? (isLost ? null : BEGINNING) : head.start,
      ...size,
    };
  }

  async function requireKnownVersion(): Promise<Exclude<HeadState, "newer">> {
    const head = await readHead(files, headPath);
    if (head === "newer") throw new Error("The audit log is of a newer version of this program");
    return head;
  }

  async function writeAnchor({ count, hash }: Mark, start: AuditHead["start"]): Promise<void> {
    await writeHead(files, headPath, { count, hash, start });
  }

  /** Whatever happens while files are renamed, the head says where the part that is kept begins. */
  async function onRotation(dropped: string | undefined): Promise<void> {
    if (end === undefined) return;
    const last = dropped === undefined ? undefined : (await readTail(files, [dropped])).mark;
    await file.sync();
    end = { ...end, start: last ?? end.start };
    if (end.found.anchor === undefined) await writeAnchor(end.mark, end.start);
  }

  async function locked<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const lock = await locks.acquire(`audit:${path}`, signal);
    try {
      return await work();
    } catch (error) {
      end = undefined;
      throw error;
    } finally {
      await lock.release();
    }
  }

  async function append(take: () => Batch<string>): Promise<void> {
    const before = await currentEnd();
    if (before.mark.count === 0 && before.found.anchor === undefined) {
      // A log without an anchor is one that has lost it, from the first line on.
      await files.makeFolder(folder, { mode: FOLDER_MODE });
      await writeAnchor(BEGINNING, before.start);
    }
    let { mark } = before;
    const { entries, lost } = take();
    let found: Found | undefined = { ...before.found, lost };
    let text = "";
    for (const fields of entries) {
      const sealed = seal(mark, fields, found);
      text += `${sealed.line}\n`;
      mark = sealed.mark;
      found = undefined;
    }
    if (text === "") return;
    await file.append(text);
    seen = mark;
    end = { mark, found: {}, start: end?.start ?? before.start, ...(await sizeNow()) };
  }

  async function anchor(): Promise<void> {
    const { mark, start, found } = await currentEnd();
    // That somebody took the anchor away must be in the log before there is a new one.
    if (found.anchor !== undefined) return;
    await file.sync();
    await writeAnchor(mark, start);
  }

  async function snapshot(): Promise<Snapshot> {
    const found: { path: string; bytes: number }[] = [];
    for (const one of file.paths) {
      const stat = await files.stat(one);
      if (stat !== undefined) found.push({ path: one, bytes: stat.bytes });
    }
    return { head: await readHead(files, headPath), files: found };
  }

  return {
    path,
    headPath,
    append: (take) => locked(() => append(take), never),
    anchor: () => locked(anchor, never),
    async look(signal) {
      const held = await file.hold(signal);
      try {
        return { held, snapshot: await locked(snapshot, signal) };
      } catch (error) {
        await held.release();
        throw error;
      }
    },
  };
}

/** In doubt the one that was known first: what contradicts it must show. */
function later(one: Mark, other: Mark): Mark {
  return other.count > one.count ? other : one;
}

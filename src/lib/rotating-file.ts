/** A file of lines that several processes append to, and that makes room for a new one when it is full. */

import { Buffer } from "node:buffer";
import type { AppendFile, FileSystem, Lock, Locks } from "../core/platform.ts";
import { errorCode } from "./error-code.ts";
import { join } from "./path.ts";

const NEWLINE = 0x0a;
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

const MAX_BYTES = 16 * 1024 * 1024;
const KEEP = 8;

export interface RotatingFileOptions {
  readonly files: FileSystem;
  readonly locks: Locks;
  readonly folder: string;
  /** `usage` for `usage.jsonl`, `usage.1.jsonl` (the youngest of the full ones), … */
  readonly name: string;
  readonly maxBytes?: number | undefined;
  /** How many full ones are kept. */
  readonly keep?: number;
  /** Called before a full one is put away, with the path of the one that makes room for it, if one must. */
  readonly onRotation?: (dropped: string | undefined) => Promise<void>;
}

export interface RotatingFile {
  /** Where lines are added. */
  readonly path: string;
  /** Where there may be lines, oldest first. */
  readonly paths: readonly string[];
  /** Adds whole lines in one write. One caller at a time. */
  append(lines: string): Promise<void>;
  /** Resolves when all that is in it is on disk, whoever wrote it. */
  sync(): Promise<void>;
  /** As long as it is held, no file is renamed. */
  hold(signal: AbortSignal): Promise<Lock>;
}

export function createRotatingFile({
  files,
  locks,
  folder,
  name,
  maxBytes = MAX_BYTES,
  keep = KEEP,
  onRotation = async () => {},
}: RotatingFileOptions): RotatingFile {
  const path = join(folder, `${name}.jsonl`);
  const numbered = (number: number) => join(folder, `${name}.${number}.jsonl`);
  const lockName = `rotate:${path}`;

  let file: AppendFile | undefined;
  let inode = 0;
  /** What the file's size is as long as nobody else adds to it. */
  let expectedBytes = 0;

  async function close(): Promise<void> {
    const open = file;
    file = undefined;
    await open?.close();
  }

  const isFull = (bytes: number, more: number) => bytes > 0 && bytes + more > maxBytes;

  async function rotate(more: number): Promise<void> {
    const lock = await locks.tryAcquire(lockName);
    // Somebody rotates or reads at this moment. A file that grows a little longer is better than waiting.
    if (lock === undefined) return;
    try {
      const found = await files.stat(path);
      if (found === undefined || !isFull(found.bytes, more)) return;
      let free = 1;
      // A rotation that was killed left a number free; otherwise the last one is overwritten.
      while (free < keep && (await files.linkStat(numbered(free))) !== undefined) free++;
      const dropped = (await files.linkStat(numbered(free))) === undefined ? undefined : numbered(free);
      await onRotation(dropped);
      await close();
      for (let number = free; number > 1; number--) {
        await files.rename(numbered(number - 1), numbered(number));
      }
      await files.rename(path, numbered(1));
    } finally {
      await lock.release();
    }
  }

  /** Makes `file` the one at `path`, which another process may have rotated away. Resolves to its size. */
  async function openCurrent(): Promise<number> {
    for (;;) {
      const found = await files.stat(path);
      if (file !== undefined && found?.inode === inode) return found.bytes;
      await close();
      if (found === undefined) await files.makeFolder(folder, { mode: FOLDER_MODE });
      file = await files.openAppend(path, { mode: FILE_MODE });
      // Looked at again: another may have rotated the file between the look and the opening.
      inode = found?.inode ?? Number.NaN;
      expectedBytes = Number.NaN;
    }
  }

  /**
   * Whether the last of `bytes` ends no line, because whoever wrote it was cut short. `undefined` when another
   * process has rotated the file meanwhile, so that what is at `path` says nothing about the one that is open.
   */
  async function isTorn(bytes: number): Promise<boolean | undefined> {
    if (bytes === 0 || bytes === expectedBytes) return false;
    const last = await lastByte(bytes);
    return (await files.stat(path))?.inode === inode ? last !== NEWLINE : undefined;
  }

  async function lastByte(bytes: number): Promise<number | undefined> {
    try {
      return (await files.read(path, { start: bytes - 1, end: bytes }))[0];
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Opens the file that lines are added to now. Resolves to its size, and whether its last line is torn. */
  async function prepare(): Promise<{ bytes: number; torn: boolean }> {
    const bytes = await openCurrent();
    const torn = await isTorn(bytes);
    if (torn !== undefined) return { bytes, torn };
    const again = await openCurrent();
    // Rotated once more: the open file is read all the same, and an empty line in it hurts nobody.
    return { bytes: again, torn: (await isTorn(again)) ?? true };
  }

  async function append(lines: string): Promise<void> {
    const size = (await files.stat(path))?.bytes ?? 0;
    const added = Buffer.byteLength(lines);
    if (isFull(size, added)) await rotate(added);
    const { bytes, torn } = await prepare();
    const begin = torn ? "\n" : "";
    await file?.append(Buffer.from(begin + lines));
    expectedBytes = bytes + begin.length + added;
  }

  /** What a file holds after a failure is not known, and an open one takes nothing more after a failed write. */
  async function closing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      await close();
      throw error;
    }
  }

  return {
    path,
    paths: [...Array.from({ length: keep }, (_, index) => numbered(keep - index)), path],
    append: (lines) => closing(() => append(lines)),
    sync: () =>
      closing(async () => {
        await openCurrent();
        await file?.sync();
      }),
    hold: (signal) => locks.acquire(lockName, signal),
  };
}

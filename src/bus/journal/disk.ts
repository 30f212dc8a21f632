/** The file under a journal: what is known to be in it, and how it comes back after the disk has failed. */

import { Buffer } from "node:buffer";
import { UserError } from "../../core/errors.ts";
import type { AppendFile, FileSystem, Log } from "../../core/platform.ts";
import { explained, quote } from "../../lib/file-error.ts";
import { HEADER } from "./read.ts";

export const FILE_MODE = 0o600;

/** Asks a disk that was full whether it has a block. On lines of their own, blanks are nothing. */
const PROBE = `${" ".repeat(4096)}\n`;

export interface Disk {
  readonly bytes: number;
  /** Goes on behind the first `bytes` of a file that is there. */
  open(found: { readonly bytes: number; readonly isTerminated: boolean }): Promise<void>;
  /** `text` is whole lines. They begin on a line of their own, whatever a write that failed has left. */
  append(text: string): Promise<void>;
  /** Rejects also when what was written is on disk and nobody would find it there. */
  sync(): Promise<void>;
  /** Puts a file with these lines in the place of whatever is there, and goes on behind them. */
  replace(lines: Iterable<string>): Promise<void>;
  /** Whether appending goes on to add to the file at our path, and that has all that was written. */
  isOurs(): Promise<boolean>;
  /** Takes up work again after an error; `lines` say all that is known, should the file not be trusted. */
  restore(lines: () => Iterable<string>): Promise<void>;
  close(): Promise<void>;
}

interface OpenFile {
  readonly file: AppendFile;
  writeError?: unknown;
  /** After it, what was written may read back well and still never reach the disk. */
  syncError?: unknown;
}

export function createDisk({ files, log, path }: { files: FileSystem; log: Log; path: string }): Disk {
  let current: OpenFile | undefined;
  let inode: number | undefined;
  let bytes = 0;
  let isTerminated = true;
  let isDoubtful = false;

  function opened(): OpenFile {
    if (current === undefined) throw new Error("The journal is not open");
    return current;
  }

  async function openAtEnd(): Promise<void> {
    current = { file: await files.openAppend(path, { mode: FILE_MODE }) };
    inode = (await files.stat(path))?.inode;
  }

  async function closeFile(open: OpenFile | undefined): Promise<void> {
    try {
      await open?.file.close();
    } catch (error) {
      // Nothing more is expected of it: what must be on disk was synced, and said so.
      log.debug("Could not close a journal", { path, error });
    }
  }

  async function append(text: string): Promise<void> {
    const open = opened();
    const line = Buffer.from(isTerminated ? text : `\n${text}`);
    isTerminated = false;
    try {
      await open.file.append(line);
    } catch (error) {
      open.writeError = error;
      throw error;
    }
    isTerminated = true;
    bytes += line.length;
  }

  async function sync(): Promise<void> {
    const open = opened();
    try {
      await open.file.sync();
    } catch (error) {
      open.syncError = error;
      throw error;
    }
    // Into a file that somebody has removed, writing goes well until the program ends.
    if (!(await isOurs())) {
      throw new UserError(
        `Cannot write ${quote(path)}: it was removed, replaced or cut off by somebody else`,
        {
          exitCode: 1,
        },
      );
    }
  }

  async function replace(lines: Iterable<string>): Promise<void> {
    const all = Buffer.from(`${[HEADER, ...lines].join("\n")}\n`);
    await files.replace(path, all, { mode: FILE_MODE });
    const before = current;
    await openAtEnd();
    bytes = all.length;
    isTerminated = true;
    isDoubtful = false;
    await closeFile(before);
  }

  async function isOurs(): Promise<boolean> {
    const found = await files.stat(path);
    return found !== undefined && found.inode === inode && found.bytes >= bytes;
  }

  async function restore(lines: () => Iterable<string>): Promise<void> {
    if (current !== undefined) {
      // A failed write is handed on to the syncs behind it.
      isDoubtful ||= current.syncError !== undefined && current.syncError !== current.writeError;
      await closeFile(current);
      current = undefined;
    }
    if (isDoubtful || !(await isOurs())) return replace(lines());
    await openAtEnd();
    await append(PROBE);
    await sync();
  }

  const writing = <T>(work: () => Promise<T>) => explained("write", path, work);

  return {
    get bytes() {
      return bytes;
    },
    open: (found) =>
      writing(async () => {
        await openAtEnd();
        ({ bytes, isTerminated } = found);
        // What a process that was killed has written is in the system's memory at best.
        await sync();
      }),
    append: (text) => writing(() => append(text)),
    sync: () => writing(sync),
    replace: (lines) => writing(() => replace(lines)),
    async isOurs() {
      try {
        return await isOurs();
      } catch (error) {
        log.debug("Could not look at a journal", { path, error });
        return false;
      }
    },
    restore: (lines) => writing(() => restore(lines)),
    async close() {
      await closeFile(current);
      current = undefined;
    },
  };
}

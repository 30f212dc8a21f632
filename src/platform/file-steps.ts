/** What file systems of ours are made of: looking, listing, reading, replacing, each of what a path names at once. */

import { Buffer } from "node:buffer";
import { closeSync, constants, type Dirent, fstatSync, lstatSync, openSync, read, type Stats } from "node:fs";
import * as fs from "node:fs/promises";
import type { FileKind, FileStat, FileSystem } from "../core/platform.ts";
import { errorCode } from "../lib/error-code.ts";
import { dirname, join } from "../lib/path.ts";
import { systemError } from "./errno.ts";

const CHUNK_BYTES = 64 * 1024;

/** Undefined on Windows, which has no FIFOs to block on. */
export const NONBLOCK = constants.O_NONBLOCK ?? 0;

/** `undefined` when there is nothing. */
export function lookAt(look: () => Stats | undefined): FileStat | undefined {
  try {
    const found = look();
    return (
      found && {
        kind: kindOf(found),
        bytes: found.size,
        modifiedMs: found.mtimeMs,
        mode: found.mode & 0o777,
        inode: found.ino,
      }
    );
  } catch (error) {
    if (isNothingThere(error)) return undefined;
    throw error;
  }
}

/**
 * Looks at once, without the thread pool: what an inode says is almost always in memory, and going to
 * another thread for it costs twenty times as much.
 */
export function linkStatOf(path: string): FileStat | undefined {
  return lookAt(() => lstatSync(path, { throwIfNoEntry: false }));
}

function kindOf(entry: Stats | Dirent): FileKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "other";
}

/** ENOTDIR too: below a file there is nothing. */
export function isNothingThere(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/**
 * Reads the whole folder, because `opendir` does so too on Bun and on Deno; in return the entries are
 * the first by name, and not whichever the disk gave first.
 */
export const list: FileSystem["list"] = async (path, { limit }) => {
  const found = await fs.readdir(path, { withFileTypes: true });
  found.sort((a, b) => (a.name < b.name ? -1 : 1));
  const kept = found.slice(0, Math.max(0, limit));
  const entries = kept.map((entry) => ({ name: entry.name, kind: certainKind(path, entry) }));
  return { entries, more: found.length > kept.length };
};

/** Some file systems do not say in the listing what an entry is, which looks like a kind we do not know. */
function certainKind(folder: string, entry: Dirent): FileKind {
  const kind = kindOf(entry);
  return kind === "other" ? (linkStatOf(join(folder, entry.name))?.kind ?? "other") : kind;
}

interface RegularFile {
  readonly descriptor: number;
  readonly size: number;
}

/**
 * Opens without waiting for a writer on a FIFO, and refuses whatever has no end or no bytes. `check` throws
 * where what was opened is not to be read. At once, like looking: only the bytes may have to come from a disk.
 */
export function openRegular(
  path: string,
  { flags = 0, check }: { flags?: number; check?: (descriptor: number) => void } = {},
): RegularFile {
  const descriptor = openSync(path, constants.O_RDONLY | NONBLOCK | flags);
  try {
    check?.(descriptor);
    const found = fstatSync(descriptor);
    if (!found.isFile()) {
      throw systemError(found.isDirectory() ? "EISDIR" : "EINVAL", "not a regular file", path);
    }
    return { descriptor, size: found.size };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** As many bytes as there are at `position`, up to the length of `buffer` from `offset` on; 0 at the end. */
function readInto(descriptor: number, buffer: Uint8Array, offset: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(descriptor, buffer, offset, buffer.length - offset, position, (error, count) => {
      if (error) reject(error);
      else resolve(count);
    });
  });
}

export async function closingOnError<T>(handle: fs.FileHandle, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export function createReading(open: (path: string) => RegularFile): Pick<FileSystem, "read" | "stream"> {
  return {
    async read(path, { start = 0, end } = {}) {
      const { descriptor, size } = open(path);
      try {
        const length = Math.max(0, Math.min(end ?? size, size) - start);
        // Not filled with zeros first, as no more of it is given out than was read into it.
        const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer, 0, length);
        let filled = 0;
        while (filled < bytes.length) {
          const count = await readInto(descriptor, bytes, filled, start + filled);
          if (count === 0) break;
          filled += count;
        }
        return bytes.subarray(0, filled);
      } finally {
        closeSync(descriptor);
      }
    },

    async *stream(path, { start = 0, signal }) {
      signal.throwIfAborted();
      const { descriptor } = open(path);
      try {
        for (let position = start; ; ) {
          signal.throwIfAborted();
          // A new buffer each time: the consumer may keep what it got.
          const chunk = new Uint8Array(CHUNK_BYTES);
          const count = await readInto(descriptor, chunk, 0, position);
          if (count === 0) return;
          position += count;
          yield chunk.subarray(0, count);
        }
      } finally {
        closeSync(descriptor);
      }
    },
  };
}

export interface ReplaceOptions {
  readonly mode: number;
  /** Throws where the new file, opened at `path`, is not to be written. */
  readonly check?: (descriptor: number, path: string) => void;
}

/** Follows no link at `target` itself. */
export async function replaceAt(
  target: string,
  bytes: Uint8Array,
  { mode, check }: ReplaceOptions,
): Promise<void> {
  const old = linkStatOf(target);
  if (old !== undefined && old.kind !== "file") {
    throw systemError(old.kind === "directory" ? "EISDIR" : "EINVAL", "not a regular file", target);
  }
  // Without the target's name in it, which may already be as long as a name can be.
  const temporary = join(dirname(target), `.nanobot-${process.pid}-${crypto.randomUUID()}.tmp`);
  try {
    await writeNew(temporary, bytes, { mode, ...(check && { check }) });
    await fs.rename(temporary, target);
  } catch (error) {
    await fs.rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(target));
}

async function writeNew(path: string, bytes: Uint8Array, { mode, check }: ReplaceOptions): Promise<void> {
  const handle = await fs.open(path, "wx", mode);
  try {
    check?.(handle.fd, path);
    // The umask took bits away at creation; this puts them back.
    await handle.chmod(mode);
    let written = 0;
    while (written < bytes.length) {
      const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, written);
      written += bytesWritten;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function remove(path: string): Promise<void> {
  try {
    await fs.rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!isNothingThere(error)) throw error;
  }
}

/** What was made, renamed or removed in a folder is only on disk when the folder itself is. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const handle = await fs.open(path, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    // Windows opens no folder, and some file systems (FUSE, SMB) sync none: there is nothing to be done there.
    if (!["EINVAL", "EISDIR", "EPERM", "EACCES", "ENOTSUP"].includes(errorCode(error) ?? "")) throw error;
  }
}

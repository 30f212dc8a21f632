/** Files over node:fs: writes that survive a crash, reads that never block, modes that hold. */

import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  type Stats,
  statSync,
} from "node:fs";
import * as fs from "node:fs/promises";
import type { AppendFile, FileKind, FileStat, FileSystem } from "../core/platform.ts";
import { errorCode } from "../lib/error-code.ts";
import { dirname, join, resolve } from "../lib/path.ts";
import { createAppendFile, handleOf } from "./append-file.ts";
import { systemError } from "./errno.ts";

const CHUNK_BYTES = 64 * 1024;
/** As many as Linux follows before it answers ELOOP. */
const MAX_LINKS = 40;

/** Undefined on Windows, which has no FIFOs to block on. */
const NONBLOCK = constants.O_NONBLOCK ?? 0;

export function createFileSystem(): FileSystem {
  return {
    stat: (path) => statWith(statSync, path),
    linkStat: (path) => statWith(lstatSync, path),
    realPath: (path) => fs.realpath(path),
    readLink: (path) => fs.readlink(path),
    list,
    read,
    stream,
    replace,
    openAppend,
    makeFolder,
    rename,
    remove,
  };
}

/**
 * Looks at once, without the thread pool: what an inode says is almost always in memory, and going to
 * another thread for it costs twenty times as much.
 */
async function statWith(call: typeof statSync, path: string): Promise<FileStat | undefined> {
  try {
    const found = call(path, { throwIfNoEntry: false });
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

function kindOf(entry: Stats | Dirent): FileKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "other";
}

/** ENOTDIR too: below a file there is nothing. */
function isNothingThere(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/**
 * Reads the whole folder, because `opendir` does so too on Bun and on Deno; in return the entries are
 * the first by name, and not whichever the disk gave first.
 */
const list: FileSystem["list"] = async (path, { limit }) => {
  const found = await fs.readdir(path, { withFileTypes: true });
  found.sort((a, b) => (a.name < b.name ? -1 : 1));
  const kept = found.slice(0, Math.max(0, limit));
  const entries: { name: string; kind: FileKind }[] = [];
  for (const entry of kept) entries.push({ name: entry.name, kind: await certainKind(path, entry) });
  return { entries, more: found.length > kept.length };
};

/** Some file systems do not say in the listing what an entry is, which looks like a kind we do not know. */
async function certainKind(folder: string, entry: Dirent): Promise<FileKind> {
  const kind = kindOf(entry);
  if (kind !== "other") return kind;
  return (await statWith(lstatSync, join(folder, entry.name)))?.kind ?? "other";
}

/** Opens without waiting for a writer on a FIFO, and refuses whatever has no end or no bytes. */
async function openRegular(path: string): Promise<{ handle: fs.FileHandle; size: number }> {
  const handle = await fs.open(path, constants.O_RDONLY | NONBLOCK);
  try {
    const found = await handle.stat();
    if (!found.isFile()) {
      throw systemError(found.isDirectory() ? "EISDIR" : "EINVAL", "not a regular file", path);
    }
    return { handle, size: found.size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const read: FileSystem["read"] = async (path, { start = 0, end } = {}) => {
  const { handle, size } = await openRegular(path);
  try {
    const bytes = new Uint8Array(Math.max(0, Math.min(end ?? size, size) - start));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } finally {
    await handle.close();
  }
};

const stream: FileSystem["stream"] = async function* (path, { start = 0, signal }) {
  signal.throwIfAborted();
  const { handle } = await openRegular(path);
  try {
    for (let position = start; ; ) {
      signal.throwIfAborted();
      // A new buffer each time: the consumer may keep what it got.
      const chunk = new Uint8Array(CHUNK_BYTES);
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
};

const replace: FileSystem["replace"] = async (path, bytes, { mode }) => {
  const target = await behindLinks(path);
  const old = await statWith(statSync, target);
  if (old !== undefined && old.kind !== "file") {
    throw systemError(old.kind === "directory" ? "EISDIR" : "EINVAL", "not a regular file", path);
  }
  // Without the target's name in it, which may already be as long as a name can be.
  const temporary = join(dirname(target), `.nanobot-${process.pid}-${crypto.randomUUID()}.tmp`);
  try {
    await writeNew(temporary, bytes, mode);
    await fs.rename(temporary, target);
  } catch (error) {
    await fs.rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(target));
};

/** Where a link leads, so that replacing a linked config replaces the config and keeps the link. */
async function behindLinks(path: string): Promise<string> {
  let target = path;
  for (let links = 0; (await statWith(lstatSync, target))?.kind === "link"; links++) {
    if (links === MAX_LINKS) throw systemError("ELOOP", "too many symbolic links", path);
    target = resolve(dirname(target), await fs.readlink(target));
  }
  return target;
}

async function writeNew(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const handle = await fs.open(path, "wx", mode);
  try {
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

const openAppend: FileSystem["openAppend"] = async (path, { mode }) => {
  for (;;) {
    const file = (await openForAppending(path)) ?? (await makeForAppending(path, mode));
    if (file !== undefined) return file;
  }
};

const APPEND = constants.O_WRONLY | constants.O_APPEND | NONBLOCK;

/** `undefined` when there is something already. */
async function makeForAppending(path: string, mode: number): Promise<AppendFile | undefined> {
  try {
    const handle = await fs.open(path, APPEND | constants.O_CREAT | constants.O_EXCL, mode);
    return await closingOnError(handle, async () => {
      await handle.chmod(mode);
      await syncFolder(dirname(path));
      return createAppendFile(handle);
    });
  } catch (error) {
    if (errorCode(error) === "EEXIST") return undefined;
    throw error;
  }
}

/** `undefined` when there is nothing, or when it was removed, and perhaps made again, since it was found. */
async function openForAppending(path: string): Promise<AppendFile | undefined> {
  try {
    // At once, like `stat`: it was looked at a moment ago, so the system has it in memory.
    const descriptor = openSync(path, APPEND);
    try {
      if (!fstatSync(descriptor).isFile()) throw systemError("EINVAL", "not a regular file", path);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    return createAppendFile(handleOf(descriptor));
  } catch (error) {
    // A link to nothing also says ENOENT, and would go on saying it. What else is there was made this moment.
    const isGone = errorCode(error) === "ENOENT" && (await statWith(lstatSync, path))?.kind !== "link";
    if (isGone) return undefined;
    throw error;
  }
}

async function closingOnError<T>(handle: fs.FileHandle, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const makeFolder: FileSystem["makeFolder"] = async (path, { mode }) => {
  try {
    await fs.mkdir(path, { mode });
  } catch (error) {
    const parent = dirname(path);
    if (errorCode(error) === "ENOENT" && parent.length < path.length) {
      await makeFolder(parent, { mode });
      return makeFolder(path, { mode });
    }
    // Whatever the system said, a folder that is there is what was asked for.
    if ((await statWith(statSync, path))?.kind === "directory") return;
    throw error;
  }
  await fs.chmod(path, mode);
  await syncFolder(dirname(path));
};

const rename: FileSystem["rename"] = async (from, to) => {
  await fs.rename(from, to);
  await syncFolder(dirname(to));
  if (dirname(from) !== dirname(to)) await syncFolder(dirname(from));
};

const remove: FileSystem["remove"] = async (path) => {
  try {
    await fs.rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!isNothingThere(error)) throw error;
  }
};

/** What was made, renamed or removed in a folder is only on disk when the folder itself is. */
async function syncFolder(path: string): Promise<void> {
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

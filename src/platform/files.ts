/** Files over node:fs: writes that survive a crash, reads that never block, modes that hold. */

import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import * as fs from "node:fs/promises";
import type { AppendFile, FileSystem } from "../core/platform.ts";
import { errorCode } from "../lib/error-code.ts";
import { dirname, resolve } from "../lib/path.ts";
import { createAppendFile, handleOf } from "./append-file.ts";
import { systemError } from "./errno.ts";
import {
  closingOnError,
  createReading,
  linkStatOf,
  list,
  lookAt,
  NONBLOCK,
  openRegular,
  remove,
  replaceAt,
  syncFolder,
} from "./file-steps.ts";

/** As many as Linux follows before it answers ELOOP. */
const MAX_LINKS = 40;

export function createFileSystem(): FileSystem {
  return {
    stat: async (path) => statOf(path),
    linkStat: async (path) => linkStatOf(path),
    realPath: (path) => fs.realpath(path),
    readLink: (path) => fs.readlink(path),
    list,
    ...createReading((path) => openRegular(path)),
    replace: async (path, bytes, { mode }) => replaceAt(await behindLinks(path), bytes, { mode }),
    openAppend,
    makeFolder,
    rename,
    remove,
    async freeBytes(path) {
      const { bavail, bsize } = await fs.statfs(path);
      return bavail * bsize;
    },
  };
}

function statOf(path: string) {
  return lookAt(() => statSync(path, { throwIfNoEntry: false }));
}

/** Where a link leads, so that replacing a linked config replaces the config and keeps the link. */
async function behindLinks(path: string): Promise<string> {
  let target = path;
  for (let links = 0; linkStatOf(target)?.kind === "link"; links++) {
    if (links === MAX_LINKS) throw systemError("ELOOP", "too many symbolic links", path);
    target = resolve(dirname(target), await fs.readlink(target));
  }
  return target;
}

const openAppend: FileSystem["openAppend"] = async (path, { mode }) => {
  for (;;) {
    const file = openForAppending(path) ?? (await makeForAppending(path, mode));
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
function openForAppending(path: string): AppendFile | undefined {
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
    if (errorCode(error) === "ENOENT" && linkStatOf(path)?.kind !== "link") return undefined;
    throw error;
  }
}

const makeFolder: FileSystem["makeFolder"] = async (path, { mode }) => {
  const make = () => fs.mkdir(path, { mode });
  const parent = dirname(path);
  try {
    await make().catch(async (error: unknown) => {
      if (errorCode(error) !== "ENOENT" || parent.length >= path.length) throw error;
      await makeFolder(parent, { mode });
      // Once: `/proc` says the same of every folder, though its parent is there.
      await make();
    });
  } catch (error) {
    // Whatever the system said, a folder that is there is what was asked for.
    if (statOf(path)?.kind === "directory") return;
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

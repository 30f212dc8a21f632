/** Files at real paths: whatever is done happens at that place, though somebody puts a link in its way meanwhile. */

import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import type { PinnedFiles } from "../core/tool.ts";
import { errorCode } from "../lib/error-code.ts";
import { basename, dirname, join } from "../lib/path.ts";
import {
  createReading,
  isNothingThere,
  linkStatOf,
  list,
  lookAt,
  openRegular,
  remove,
  replaceAt,
  syncFolder,
} from "./file-steps.ts";
import { changedMeanwhile, createPin } from "./pin.ts";

/** Undefined on Windows. */
const NOFOLLOW = constants.O_NOFOLLOW ?? 0;
const FOLDER = constants.O_DIRECTORY ?? 0;
/** Whoever replaces a file in the ordinary way may do so just when it is opened, though hardly so often. */
const TRIES = 5;

export interface PinnedFilesOptions {
  readonly os: string;
  /** Called when the folder at this path is held and nothing has been done in it yet. */
  readonly onHeld?: (folder: string) => void;
}

/**
 * Every path is absolute and real: a link in it, at its end too, was put there after it was resolved, and is
 * an error with the code `ESTALE`. Nothing has been done then.
 */
export function createPinnedFiles({ os, onHeld }: PinnedFilesOptions): PinnedFiles {
  const pin = createPin(os);

  async function holding<T>(path: string, work: (at: string) => Promise<T>): Promise<T> {
    const folder = pin.holdFolder(path);
    try {
      onHeld?.(path);
      return await work(folder.path);
    } finally {
      folder.close();
    }
  }

  /** `work` gets the path by which to reach the last segment of `path` in the folder that is held. */
  function within<T>(path: string, work: (at: string) => Promise<T>): Promise<T> {
    return holding(dirname(path), (folder) => work(join(folder, basename(path))));
  }

  function open(path: string) {
    for (let tries = 1; ; tries++) {
      try {
        return openRegular(path, { flags: NOFOLLOW, check: (descriptor) => pin.check(descriptor, path) });
      } catch (error) {
        const code = errorCode(error);
        // What O_NOFOLLOW answers to a link.
        if (code === "ELOOP") throw changedMeanwhile(path);
        if (code !== "ESTALE" || tries === TRIES) throw error;
      }
    }
  }

  const makeFolder: PinnedFiles["makeFolder"] = async (path, { mode }) => {
    const parent = dirname(path);
    try {
      await within(path, (at) => makeOne(at, mode));
    } catch (error) {
      if (errorCode(error) !== "ENOENT" || parent.length >= path.length) throw error;
      await makeFolder(parent, { mode });
      await makeFolder(path, { mode });
    }
  };

  return {
    async stat(path) {
      const found = lookAt(() => pin.linkStat(path));
      if (found?.kind === "link") throw changedMeanwhile(path);
      return found;
    },

    linkStats: (folder, names) =>
      holding(folder, async (at) => names.map((name) => linkStatOf(join(at, name)))),

    list: (path, options) => holding(path, (folder) => list(folder, options)),

    ...createReading(open),

    replace: (path, bytes, { mode }) =>
      within(path, async (at) => {
        if (linkStatOf(at)?.kind === "link") throw changedMeanwhile(path);
        const check = (descriptor: number, made: string) =>
          pin.check(descriptor, join(dirname(path), basename(made)));
        await replaceAt(at, bytes, { mode, check });
      }),

    makeFolder,

    async remove(path) {
      try {
        await within(path, remove);
      } catch (error) {
        if (!isNothingThere(error)) throw error;
      }
    },
  };
}

async function makeOne(path: string, mode: number): Promise<void> {
  try {
    await fs.mkdir(path, { mode });
  } catch (error) {
    const there = linkStatOf(path)?.kind;
    // Whatever the system said, a folder that is there is what was asked for.
    if (there === "directory") return;
    throw there === "link" ? changedMeanwhile(path) : error;
  }
  // Opened, because by its name the mode could go to what a link leads to.
  const made = await fs.open(path, constants.O_RDONLY | FOLDER | NOFOLLOW);
  try {
    await made.chmod(mode);
  } finally {
    await made.close();
  }
  await syncFolder(dirname(path));
}

/** How to be sure that what is done at a path happens there, whatever somebody puts in its way meanwhile. */

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { dirname } from "../lib/path.ts";
import { systemError } from "./errno.ts";

interface HeldFolder {
  /** Leads to the folder that is held, wherever that is by now. */
  readonly path: string;
  close(): void;
}

/** All paths are real. What is elsewhere by now is an error with the code `ESTALE`. */
export interface Pin {
  holdFolder(path: string): HeldFolder;
  /** Throws when what was opened at `path` is not what is there. */
  check(descriptor: number, path: string): void;
  /** Throws like `lstat` when there is nothing. */
  linkStat(path: string): Stats;
}

export function createPin(os: string): Pin {
  return os === "linux" && existsSync(descriptorPath("")) ? byDescriptor : byLookingAgain;
}

export function changedMeanwhile(path: string): Error {
  return systemError("ESTALE", "the path was changed meanwhile", path);
}

function descriptorPath(descriptor: number | ""): string {
  return `/proc/self/fd/${descriptor}`;
}

/** The same on every processor of Linux, and not named by node:fs. Needs no permission to read, and opens no device. */
const O_PATH = 0o10000000;

/** A descriptor stays with what was opened, the system tells its path, and names below it begin there. */
const byDescriptor: Pin = {
  holdFolder(path) {
    const descriptor = openChecked(path, O_PATH | constants.O_DIRECTORY);
    return { path: descriptorPath(descriptor), close: () => closeSync(descriptor) };
  },

  check(descriptor, path) {
    const at = readlinkSync(descriptorPath(descriptor));
    // What was there when it was opened, and was replaced since, is what was meant.
    if (at !== path && at !== `${path} (deleted)`) throw changedMeanwhile(path);
  },

  linkStat(path) {
    const descriptor = openChecked(path, O_PATH | constants.O_NOFOLLOW);
    try {
      return fstatSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  },
};

function openChecked(path: string, flags: number): number {
  const descriptor = openSync(path, flags);
  try {
    byDescriptor.check(descriptor, path);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** No guarantee: a link that comes and goes at the right moments, between two looks, gets past it. */
const byLookingAgain: Pin = {
  holdFolder(path) {
    if (realpathSync(path) !== path) throw changedMeanwhile(path);
    return { path, close: () => undefined };
  },

  check(descriptor, path) {
    const opened = fstatSync(descriptor, { bigint: true });
    const there = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (opened.ino !== there?.ino || opened.dev !== there.dev) throw changedMeanwhile(path);
    this.holdFolder(dirname(path)).close();
  },

  linkStat(path) {
    const found = lstatSync(path);
    this.holdFolder(dirname(path)).close();
    return found;
  },
};

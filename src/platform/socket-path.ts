/** Socket files at any depth: the system takes about a hundred bytes of a path for them. */

import { Buffer } from "node:buffer";
import { closeSync, constants, openSync } from "node:fs";
import { UserError } from "../core/errors.ts";
import { quote } from "../lib/file-error.ts";
import { basename, dirname } from "../lib/path.ts";

/** What every system takes: Linux has room for 107 bytes, the others for 103. */
const MAX_BYTES = 103;
/** Leaves room for the way to the folder. */
const MAX_NAME_BYTES = 64;

export interface SocketPath {
  /** Leads to the file until `release`. */
  readonly path: string;
  release(): void;
}

/** Throws a `UserError` when the path is too long and cannot be shortened, and the system's error. */
export function socketPath(file: string): SocketPath {
  const bytes = Buffer.byteLength(file);
  if (bytes <= MAX_BYTES) return { path: file, release() {} };
  const name = basename(file);
  if (process.platform !== "linux" || Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw new UserError(
      `Cannot use the socket file ${quote(file)}: its path has ${bytes} bytes, and the system takes ${MAX_BYTES}`,
      { hint: "Move the workspace to a folder with a shorter path", exitCode: 1 },
    );
  }
  const folder = openSync(dirname(file), constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${folder}/${name}`, release: () => closeSync(folder) };
}

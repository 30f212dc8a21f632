/** The file a call names, looked at before anything is opened: opening a pipe or a device can hang or act. */

import { UserError } from "../core/errors.ts";
import type { FileStat } from "../core/platform.ts";
import type { RealPath, ToolFiles } from "../core/tool.ts";
import { errorCode } from "../lib/error-code.ts";
import { explained, quote } from "../lib/file-error.ts";
import { nearestFew } from "../lib/nearest.ts";
import { basename, dirname, join } from "../lib/path.ts";

/** For what a tool makes; what exists keeps its own. */
export const NEW_FILE_MODE = 0o644;
export const NEW_FOLDER_MODE = 0o755;

export function inBytes(count: number): string {
  return count === 1 ? "1 byte" : `${count} bytes`;
}

export interface TargetFile {
  readonly path: RealPath;
  /** As the model and the user should read it. */
  readonly shown: string;
  /** `undefined` when there is no file yet. */
  readonly stat: FileStat | undefined;
}

/**
 * Throws a `UserError` for what is no regular file and no place for one, and for a read-only file to be written.
 * `doing` is the caller's word for what it wants.
 */
export async function findTarget(
  files: ToolFiles,
  named: string,
  access: "read" | "write",
  doing: string = access,
): Promise<TargetFile> {
  const path = await files.resolve(named, access, doing);
  const stat = await explained(doing, named, () => files.system.stat(path));
  const refused = `Cannot ${doing} ${quote(named)}`;
  if (stat?.kind === "directory")
    throw new UserError(`${refused}: it is a folder; list_dir shows what is in it`);
  if (stat !== undefined && stat.kind !== "file") {
    throw new UserError(`${refused}: it is a device, a pipe or a socket, not a regular file`);
  }
  // A replacement would not be stopped by this, as it only needs the folder; the owner's wish is clear all the same.
  if (access === "write" && stat !== undefined && (stat.mode & 0o222) === 0) {
    throw new UserError(`${refused}: it is read-only`);
  }
  if (stat === undefined && /[/\\]$/.test(named)) {
    throw new UserError(`${refused}: a path that ends with a slash names a folder; add the name of a file`);
  }
  return { path, shown: files.display(path), stat };
}

/** Names of the folder that are looked through, and names that are suggested. */
const MOST_NAMES = 2_000;
const SUGGESTED = 3;

/** With the names it may have been meant to be, as far as a tool may reach them. */
export async function noSuchFile(
  files: ToolFiles,
  { path }: Pick<TargetFile, "path">,
  named: string,
  access: "read" | "edit",
): Promise<UserError> {
  const near = await nearNames(files, path);
  const advice =
    near.length === 0 ? "list_dir shows what is there" : `did you mean ${near.map(quote).join(", ")}?`;
  return new UserError(`Cannot ${access} ${quote(named)}: there is no such file; ${advice}`);
}

async function nearNames(files: ToolFiles, path: RealPath): Promise<readonly string[]> {
  const folder = dirname(path);
  try {
    const { entries } = await files.system.list(folder, { limit: MOST_NAMES });
    const names = entries.filter(({ kind }) => kind !== "directory").map(({ name }) => name);
    const near = nearestFew(basename(path), names, SUGGESTED).map((name) => join(folder, name));
    const found = await Promise.allSettled(
      near.map(async (name) => files.system.stat(await files.resolve(name, "read"))),
    );
    // A link to nothing, and a name that is no UTF-8, would not be found by the name that is shown.
    const isThere = (result: (typeof found)[number] | undefined) =>
      result?.status === "fulfilled" && result.value !== undefined;
    return near.filter((_, index) => isThere(found[index])).map(files.display);
  } catch (error) {
    // A folder that cannot be listed has no names to suggest; that the file is missing is said anyway.
    if (errorCode(error) !== undefined) return [];
    throw error;
  }
}

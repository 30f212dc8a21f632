/** The file a call names, looked at before anything is opened: opening a pipe or a device can hang or act. */

import { UserError } from "../core/errors.ts";
import type { FileStat } from "../core/platform.ts";
import type { RealPath, ToolFiles } from "../core/tool.ts";
import { explained, quote } from "../lib/file-error.ts";

/** For what a tool makes; what exists keeps its own. */
export const NEW_FILE_MODE = 0o644;
export const NEW_FOLDER_MODE = 0o755;

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

export function noSuchFile(named: string, access: "read" | "edit"): UserError {
  return new UserError(
    `Cannot ${access} ${quote(named)}: there is no such file; list_dir shows what is there`,
  );
}

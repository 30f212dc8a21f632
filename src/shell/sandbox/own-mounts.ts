/** What a sandbox shows of nanobot's own, and what it covers: mounts, over files and folders that have to be there. */

import { UserError } from "../../core/errors.ts";
import type { FileSystem } from "../../core/platform.ts";
import { quote } from "../../lib/file-error.ts";
import { configFiles, type OwnPlaces } from "../../lib/own-places.ts";
import { dirname } from "../../lib/path.ts";
import { covering, type Mount } from "./mounts.ts";

export async function ownMounts(
  files: FileSystem,
  { hidden, readable, readOnlyFolders, readOnlyFiles }: OwnPlaces,
  ownResults: string,
): Promise<readonly Mount[]> {
  const around = readOnlyFiles.map(({ path }) => dirname(path));
  const folders = new Set([hidden, ...readOnlyFolders, ...around]);
  await Promise.all([...folders].map((path) => ensureFolder(files, path)));
  const closed = await Promise.all(readOnlyFiles.map((file) => closedFile(files, file)));
  const isFolder = async (path: string) => (await files.linkStat(path))?.kind === "directory";
  const open = [readable, ownResults];
  const areThere = await Promise.all(open.map(isFolder));
  return [
    ...readOnlyFolders.map((path): Mount => ({ kind: "ro", path })),
    ...closed.flat(),
    { kind: "hidden-folder", path: hidden },
    ...open.filter((_, index) => areThere[index]).map((path): Mount => ({ kind: "ro", path })),
  ];
}

/** A command could make it where it is missing, and replace it where it is a link. */
async function ensureFolder(files: FileSystem, path: string): Promise<void> {
  const kind = (await files.linkStat(path))?.kind;
  if (kind === undefined) await files.makeFolder(path, { mode: 0o700 });
  else if (kind !== "directory") throw unprotectable(path, "a folder");
}

function unprotectable(path: string, wanted: string): UserError {
  return new UserError(
    `Cannot run the command: ${quote(path)} is not ${wanted}, and the sandbox can protect nothing else`,
    { hint: 'Move it back into the workspace, or set tools.exec.sandbox to "none"' },
  );
}

/**
 * What is to be covered must be there: bubblewrap would make it too, in a way of its own. Where it may not be made,
 * only the judgement of commands keeps them from making it.
 */
async function closedFile(
  files: FileSystem,
  { path, mayBeMade }: OwnPlaces["readOnlyFiles"][number],
): Promise<readonly Mount[]> {
  const kind = (await files.linkStat(path))?.kind;
  if (kind === undefined && !mayBeMade) return [];
  if (kind === undefined) await (await files.openAppend(path, { mode: 0o600 })).close();
  else if (kind !== "file") throw unprotectable(path, "a regular file");
  return [{ kind: "ro", path }];
}

/**
 * Only where the sandbox would show it. Its folder becomes read-only, so that no other configuration is
 * put in its place; where that folder is the workspace itself, the file has to be there to be covered.
 */
export async function configMounts(
  files: FileSystem,
  configFile: string,
  workspace: string,
  shown: readonly Mount[],
): Promise<readonly Mount[]> {
  const mounts: Mount[] = [];
  for (const path of await configFiles(files, configFile)) {
    const cover = covering(shown, path);
    if (cover === undefined || cover.kind === "temporary") continue;
    const folder = dirname(path);
    if (cover.kind === "rw" && folder !== workspace) mounts.push({ kind: "ro", path: folder });
    const kind = (await files.linkStat(path))?.kind;
    if (kind === "file") mounts.push({ kind: "hidden-file", path });
    else if (folder === workspace) throw unprotected(path);
  }
  return mounts;
}

function unprotected(path: string): UserError {
  return new UserError(`Cannot run the command: it could put another configuration at ${quote(path)}`, {
    hint: "Make that a file (it may hold just {}), or use a workspace in a folder of its own",
  });
}

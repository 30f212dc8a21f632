/** Writes several files, or none: when one cannot be written, those before it are put back as they were. */

import { UserError } from "../core/errors.ts";
import type { FileStat } from "../core/platform.ts";
import type { PinnedFiles, RealPath } from "../core/tool.ts";
import { explained, quote } from "../lib/file-error.ts";
import { dirname } from "../lib/path.ts";
import { problemOf } from "../lib/phrases.ts";
import { isSameFile } from "../lib/same-file.ts";
import { NEW_FILE_MODE, NEW_FOLDER_MODE } from "./target-file.ts";

export interface PlannedFile {
  readonly path: RealPath;
  /** As the model wrote it. */
  readonly named: string;
  /** What was there when `before` was read; both `undefined` for a new file. */
  readonly stat: FileStat | undefined;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array;
}

interface Undo {
  readonly named: string;
  run(): Promise<void>;
}

export async function writeTogether(system: PinnedFiles, plan: readonly PlannedFile[]): Promise<void> {
  const undo: Undo[] = [];
  try {
    for (const file of plan) await explained("edit", file.named, () => write(system, file, undo));
  } catch (cause) {
    const lost = await undoAll(undo);
    const reason = problemOf(cause);
    const outcome =
      lost.length === 0
        ? "no file was changed"
        : `these could not be put back and must be looked at: ${lost.map(quote).join(", ")}`;
    throw new UserError(`${reason}; ${outcome}`, { cause });
  }
}

/** How to undo a step is noted before it, because one that fails may have done something all the same. */
async function write(system: PinnedFiles, file: PlannedFile, undo: Undo[]): Promise<void> {
  const { path, named, stat, after } = file;
  await refuseChanged(system, file);
  if (stat === undefined) {
    const made = await missingFolders(system, path);
    undo.push({ named, run: () => removeEmpty(system, made) });
    await system.makeFolder(dirname(path), { mode: NEW_FOLDER_MODE });
  }
  undo.push({ named, run: () => putBack(system, file) });
  await system.replace(path, after, { mode: stat?.mode ?? NEW_FILE_MODE });
}

async function refuseChanged(system: PinnedFiles, { path, named, stat }: PlannedFile): Promise<void> {
  const now = await system.stat(path);
  const isSame = now === undefined || stat === undefined ? now === stat : isSameFile(stat, now);
  if (!isSame) throw new UserError(`Cannot edit ${quote(named)}: it was changed meanwhile; try again`);
}

/** The folders above `path` that are not there, the deepest first. */
async function missingFolders(system: PinnedFiles, path: string): Promise<readonly string[]> {
  const missing: string[] = [];
  let folder = dirname(path);
  while ((await system.stat(folder)) === undefined && dirname(folder) !== folder) {
    missing.push(folder);
    folder = dirname(folder);
  }
  return missing;
}

/** The files that are not as they were. */
async function undoAll(undo: readonly Undo[]): Promise<readonly string[]> {
  const lost = new Set<string>();
  for (const { named, run } of undo.toReversed()) {
    try {
      await run();
    } catch {
      lost.add(named); // The caller names it beside the first error, which is the one that matters.
    }
  }
  return [...lost];
}

async function putBack(system: PinnedFiles, { path, stat, before }: PlannedFile): Promise<void> {
  const now = await system.stat(path);
  if (stat === undefined || before === undefined) {
    if (now?.kind === "file") await system.remove(path);
  } else if (now === undefined || !isSameFile(stat, now)) {
    await system.replace(path, before, { mode: stat.mode });
  }
}

/** What somebody put into one of them meanwhile stays. */
async function removeEmpty(system: PinnedFiles, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    if ((await system.stat(folder))?.kind !== "directory") continue;
    const { entries } = await system.list(folder, { limit: 1 });
    if (entries.length > 0) return;
    await system.remove(folder);
  }
}

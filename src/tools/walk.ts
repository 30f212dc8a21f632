/** The files below a folder, without following links and without what tools leave behind. */

import { UserError } from "../core/errors.ts";
import type { FileKind } from "../core/platform.ts";
import type { ToolFiles } from "../core/tool.ts";
import type { Breather } from "../lib/breather.ts";
import { explained } from "../lib/file-error.ts";
import { join } from "../lib/path.ts";
import { NOISE, OWN } from "./left-behind.ts";

/** How many entries and folders are looked at. Bounds the memory of whoever keeps them. */
const MOST_ENTRIES = 200_000;
const MOST_FOLDERS = 50_000;
/** About what looking at one costs, as reading characters goes. */
const UNITS_AN_ENTRY = 1_000;

export interface WalkedEntry {
  /** Below the folder where the walk began, with `/`. */
  readonly below: string;
  /** A folder, or a regular file. Links, pipes, sockets and devices do not come up. */
  readonly kind: Extract<FileKind, "file" | "directory">;
}

export interface WalkNotes {
  readonly leftOut: Set<string>;
  readonly unreadable: string[];
  /** There was more than can be looked at. */
  isPartial: boolean;
}

export function newWalkNotes(): WalkNotes {
  return { leftOut: new Set(), unreadable: [], isPartial: false };
}

export interface WalkOptions {
  /** What the caller does, for errors. */
  readonly doing: string;
  readonly notes: WalkNotes;
  readonly breather: Breather;
  readonly signal: AbortSignal;
}

/** A folder's entries at a time, upper levels first. Rejects with a `UserError` when `root` itself cannot be listed. */
export async function* walk(
  files: ToolFiles,
  root: string,
  { doing, notes, breather, signal }: WalkOptions,
): AsyncGenerator<readonly WalkedEntry[]> {
  // The walk appends to the list that it goes through.
  const folders = [""];
  let looked = 0;
  for (const folder of folders) {
    signal.throwIfAborted();
    const listed = await list(files, root, folder, { doing, limit: MOST_ENTRIES - looked });
    if (listed === "closed") continue;
    if (listed === "unreadable") {
      notes.unreadable.push(folder);
      continue;
    }
    notes.isPartial ||= listed.more;
    looked += listed.entries.length;
    await breather.take(listed.entries.length * UNITS_AN_ENTRY);
    const found: WalkedEntry[] = [];
    for (const { name, kind } of listed.entries) {
      if (name === OWN || (kind !== "file" && kind !== "directory")) continue;
      if (kind === "directory" && NOISE.has(name)) {
        notes.leftOut.add(name);
        continue;
      }
      const below = folder === "" ? name : `${folder}/${name}`;
      found.push({ below, kind });
      if (kind !== "directory") continue;
      if (folders.length < MOST_FOLDERS) folders.push(below);
      else notes.isPartial = true;
    }
    yield found;
  }
}

/**
 * Each folder is judged again, since one of ours may lie inside, or the folder may have become a link since
 * it was seen. `closed` says so, and is not for the model's eyes.
 */
async function list(
  files: ToolFiles,
  root: string,
  folder: string,
  { doing, limit }: { doing: string; limit: number },
) {
  const path = join(root, folder);
  const isRoot = folder === "";
  try {
    if (!isRoot && (await files.resolve(path, "read", doing)) !== path) return "closed";
  } catch (error) {
    if (error instanceof UserError) return "closed";
    throw error;
  }
  try {
    return await explained(doing, path, () => files.system.list(path, { limit }));
  } catch (error) {
    if (error instanceof UserError && !isRoot) return "unreadable";
    throw error;
  }
}

/** Whether a file that was found may be shown: it may be one of ours, or no longer where it was. */
export async function isOpen(files: ToolFiles, path: string, doing: string): Promise<boolean> {
  try {
    return (await files.resolve(path, "read", doing)) === path;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

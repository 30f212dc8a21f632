/** The files below a folder, without following links and without what tools leave behind. */

import { UserError } from "../core/errors.ts";
import type { FileKind, FileStat } from "../core/platform.ts";
import type { ToolFiles } from "../core/tool.ts";
import type { Breather } from "../lib/breather.ts";
import { explained } from "../lib/file-error.ts";
import { HIDDEN } from "../lib/own-places.ts";
import { dirname, join } from "../lib/path.ts";
import { NOISE } from "./left-behind.ts";

/** How many entries and folders are looked at. Bounds the memory of whoever keeps them. */
const MOST_ENTRIES = 200_000;
const MOST_FOLDERS = 50_000;
/** About what looking at one costs, as reading characters goes. */
const UNITS_AN_ENTRY = 1_000;

export interface WalkedEntry {
  readonly name: string;
  /** Below the folder where the walk began, with `/`. */
  readonly below: string;
  readonly kind: FileKind;
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
  /** The folder where the walk begins, as the model wrote it. */
  readonly named: string;
  readonly notes: WalkNotes;
  readonly breather: Breather;
  readonly signal: AbortSignal;
  /** Links, pipes, sockets and devices come up too (false). None is followed or opened. */
  readonly everyKind?: boolean;
  /** Goes into the folders below (true). */
  readonly isDeep?: boolean;
}

/** A folder's entries at a time, upper levels first. Rejects with a `UserError` when `root` itself cannot be listed. */
export async function* walk(
  files: ToolFiles,
  root: string,
  { doing, named, notes, breather, signal, everyKind = false, isDeep = true }: WalkOptions,
): AsyncGenerator<readonly WalkedEntry[]> {
  // The walk appends to the list that it goes through.
  const folders = [""];
  let looked = 0;
  for (const folder of folders) {
    signal.throwIfAborted();
    const listed = await list(files, root, folder, { doing, named, limit: MOST_ENTRIES - looked });
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
      if (name === HIDDEN || (!everyKind && kind !== "file" && kind !== "directory")) continue;
      if (kind === "directory" && NOISE.has(name)) {
        notes.leftOut.add(name);
        continue;
      }
      const below = folder === "" ? name : `${folder}/${name}`;
      found.push({ name, below, kind });
      if (kind !== "directory" || !isDeep) continue;
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
  { doing, named, limit }: { doing: string; named: string; limit: number },
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
    return await explained(doing, isRoot ? named : path, () => files.system.list(path, { limit }));
  } catch (error) {
    if (error instanceof UserError && !isRoot) return "unreadable";
    throw error;
  }
}

/** Whether what was found may be shown, other than a link: it may be one of ours, or no longer where it was. */
export async function isOpen(files: ToolFiles, path: string, doing: string): Promise<boolean> {
  try {
    return (await files.resolve(path, "read", doing)) === path;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

const STATS_AT_ONCE = 500;
const UNITS_A_STAT = 1_500;

/** What entries of one folder, as they came together, are by now. `undefined` for what is gone. */
export async function statEntries(
  files: ToolFiles,
  root: string,
  entries: readonly WalkedEntry[],
  { doing, breather }: Pick<WalkOptions, "doing" | "breather">,
): Promise<readonly (FileStat | undefined)[]> {
  const [first] = entries;
  if (first === undefined) return [];
  const folder = dirname(join(root, first.below));
  const found: (FileStat | undefined)[] = [];
  try {
    for (let from = 0; from < entries.length; from += STATS_AT_ONCE) {
      const names = entries.slice(from, from + STATS_AT_ONCE).map(({ name }) => name);
      await breather.take(names.length * UNITS_A_STAT);
      found.push(...(await explained(doing, folder, () => files.system.linkStats(folder, names))));
    }
  } catch (error) {
    // The folder was closed, or is elsewhere, since it was listed.
    if (!(error instanceof UserError)) throw error;
  }
  return found;
}

/** The files that a search is about, in the order in which their matches are shown. */

import { UserError } from "../core/errors.ts";
import type { RealPath, ToolContext } from "../core/tool.ts";
import type { Breather } from "../lib/breather.ts";
import { explained, quote } from "../lib/file-error.ts";
import { createGlob } from "../lib/glob.ts";
import { join } from "../lib/path.ts";
import type { RequiredText } from "../lib/regex/required.ts";
import { sortInTurns } from "../lib/sort-in-turns.ts";
import { createTypeFilter } from "./file-types.ts";
import { filesHolding } from "./ripgrep.ts";
import { READ_AT_ONCE_BYTES, type SearchedFile } from "./search-file.ts";
import { isOpen, newWalkNotes, type WalkNotes, walk } from "./walk.ts";

export const SEARCH = "search";
export const MAX_FOLDER_FILE_BYTES = 2 * 1024 * 1024;
const MAX_NAMED_FILE_BYTES = 100 * 1024 * 1024;
/** Starting a program for fewer costs more than it saves. */
const FILES_WORTH_RIPGREP = 1_000;
const UNITS_A_FILE = 1_500;

export interface Target extends SearchedFile {
  readonly modifiedMs: number;
}

export interface Targets {
  readonly files: readonly Target[];
  /** How many there are, those included that were found to hold nothing. */
  readonly searched: number;
  /** Files in folders that are too large to be searched unasked, as they are shown. */
  readonly tooLarge: readonly string[];
  readonly notes: WalkNotes;
}

export interface TargetOptions {
  readonly glob?: string | undefined;
  readonly type?: string | undefined;
  readonly required: RequiredText | undefined;
  readonly order: "files_with_matches" | "content" | "count";
  readonly breather: Breather;
}

/** Throws a `UserError` when `path` names nothing that can be searched. */
export async function collectTargets(
  path: string,
  options: TargetOptions,
  context: ToolContext,
): Promise<Targets> {
  const { files } = context.ports;
  const root = await files.resolve(path, "read", SEARCH);
  const stat = await explained(SEARCH, path, () => files.system.stat(root));
  const refused = `Cannot ${SEARCH} ${quote(path)}`;
  if (stat === undefined) throw new UserError(`${refused}: there is nothing there; list_dir shows what is`);
  if (stat.kind === "directory") return collectBelow(root, options, context);
  if (stat.kind !== "file")
    throw new UserError(`${refused}: it is a device, a pipe or a socket, not a regular file`);
  if (stat.bytes > MAX_NAMED_FILE_BYTES) {
    throw new UserError(
      `${refused}: it has ${stat.bytes} bytes, and at most ${MAX_NAMED_FILE_BYTES} are searched; use exec with grep or tail`,
    );
  }
  const { bytes, modifiedMs } = stat;
  return { files: [{ path: root, bytes, modifiedMs }], searched: 1, tooLarge: [], notes: newWalkNotes() };
}

interface Found {
  readonly below: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

async function collectBelow(
  root: RealPath,
  { glob, type, required, order, breather }: TargetOptions,
  { signal, ports: { files, shell } }: ToolContext,
): Promise<Targets> {
  const hasType = type === undefined ? undefined : createTypeFilter(type);
  const isInGlob = glob === undefined ? undefined : createGlob(glob);
  const notes = newWalkNotes();
  const found: Found[] = [];
  const tooLarge: string[] = [];

  for await (const entries of walk(files, root, { doing: SEARCH, notes, breather, signal })) {
    for (const { below, kind } of entries) {
      if (kind !== "file" || hasType?.(below) === false || isInGlob?.(below) === false) continue;
      await breather.take(UNITS_A_FILE);
      const path = join(root, below);
      const stat = await statOf(path);
      // It was listed: its name is no UTF-8, and what can be shown of it leads nowhere.
      if (stat === undefined && below.includes("\ufffd")) notes.unreadable.push(below);
      if (stat?.kind !== "file" || stat.bytes === 0) continue;
      const { bytes, modifiedMs } = stat;
      if (bytes <= MAX_FOLDER_FILE_BYTES) found.push({ below, bytes, modifiedMs });
      else if (await isOpen(files, path, SEARCH)) tooLarge.push(files.display(path));
    }
  }

  async function statOf(path: string) {
    try {
      return await explained(SEARCH, path, () => files.system.linkStat(path));
    } catch (error) {
      // Its folder was closed since it was listed.
      if (error instanceof UserError) return undefined;
      throw error;
    }
  }

  const maxBytes = READ_AT_ONCE_BYTES;
  const isWorthIt = required !== undefined && found.length > FILES_WORTH_RIPGREP;
  const holding = isWorthIt ? await filesHolding({ shell, root, required, maxBytes, signal }) : undefined;
  // What is larger was not looked at, so that it stays.
  const kept = found.filter(({ below, bytes }) => bytes > maxBytes || (holding?.has(below) ?? true));
  const byPath = (a: Found, b: Found) => (a.below < b.below ? -1 : 1);
  const byTime = (a: Found, b: Found) => b.modifiedMs - a.modifiedMs || byPath(a, b);
  const sorted = await sortInTurns(kept, order === "content" ? byPath : byTime, breather);
  return {
    files: sorted.map(({ below, bytes, modifiedMs }) => ({ path: join(root, below), bytes, modifiedMs })),
    searched: found.length,
    tooLarge: tooLarge.sort(),
    notes,
  };
}

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
import { isOpen, newWalkNotes, statEntries, type WalkNotes, walk } from "./walk.ts";

export const SEARCH = "search";
export const MAX_FOLDER_FILE_BYTES = 2 * 1024 * 1024;
export const MAX_NAMED_FILE_BYTES = 100 * 1024 * 1024;
/** Starting a program for fewer costs more than it saves. */
const FILES_WORTH_RIPGREP = 1_000;

/** Made as they are asked for, since there may be a great many. */
interface TargetList {
  readonly length: number;
  slice(from: number, to: number): readonly SearchedFile[];
}

export interface Targets {
  readonly files: TargetList;
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
  if (stat.kind === "directory") return collectBelow(root, { ...options, path }, context);
  if (stat.kind !== "file")
    throw new UserError(`${refused}: it is a device, a pipe or a socket, not a regular file`);
  if (stat.bytes > MAX_NAMED_FILE_BYTES) {
    throw new UserError(
      `${refused}: it has ${stat.bytes} bytes, and at most ${MAX_NAMED_FILE_BYTES} are searched; use exec with grep or tail`,
    );
  }
  return { files: [{ path: root, bytes: stat.bytes }], searched: 1, tooLarge: [], notes: newWalkNotes() };
}

async function collectBelow(
  root: RealPath,
  { path, glob, type, required, order, breather }: TargetOptions & { readonly path: string },
  { signal, ports: { files, ripgrep } }: ToolContext,
): Promise<Targets> {
  const hasType = type === undefined ? undefined : createTypeFilter(type);
  const isInGlob = glob === undefined ? undefined : createGlob(glob);
  const notes = newWalkNotes();
  // In columns, as an object for each would be most of what the search holds.
  const paths: string[] = [];
  const sizes: number[] = [];
  const times: number[] = [];
  const tooLarge: string[] = [];

  const options = { doing: SEARCH, named: path, notes, breather, signal };
  for await (const entries of walk(files, root, options)) {
    const wanted = entries.filter(
      ({ below, kind }) => kind === "file" && hasType?.(below) !== false && isInGlob?.(below) !== false,
    );
    const stats = await statEntries(files, root, wanted, options);
    for (const [index, { below }] of wanted.entries()) {
      const stat = stats[index];
      // It was listed: its name is no UTF-8, and what can be shown of it leads nowhere.
      if (stat === undefined && below.includes("\ufffd")) notes.unreadable.push(below);
      if (stat?.kind !== "file" || stat.bytes === 0) continue;
      if (stat.bytes <= MAX_FOLDER_FILE_BYTES) {
        paths.push(below);
        sizes.push(stat.bytes);
        times.push(stat.modifiedMs);
      } else {
        const full = join(root, below);
        if (await isOpen(files, full, SEARCH)) tooLarge.push(files.display(full));
      }
    }
  }

  const maxBytes = READ_AT_ONCE_BYTES;
  const isWorthIt = required !== undefined && paths.length > FILES_WORTH_RIPGREP;
  const holding = isWorthIt ? await filesHolding({ ripgrep, root, required, maxBytes, signal }) : undefined;
  const pathOf = (index: number) => paths[index] ?? "";
  const sizeOf = (index: number) => sizes[index] ?? 0;
  const timeOf = (index: number) => times[index] ?? 0;
  const kept: number[] = [];
  for (let index = 0; index < paths.length; index++) {
    // What is larger was not looked at, so that it stays.
    if (sizeOf(index) > maxBytes || (holding?.has(pathOf(index)) ?? true)) kept.push(index);
  }
  const byPath = (a: number, b: number) => (pathOf(a) < pathOf(b) ? -1 : 1);
  const byTime = (a: number, b: number) => timeOf(b) - timeOf(a) || byPath(a, b);
  const sorted = await sortInTurns(kept, order === "content" ? byPath : byTime, breather);
  return {
    files: {
      length: sorted.length,
      slice: (from, to) =>
        sorted.slice(from, to).map((index) => ({ path: join(root, pathOf(index)), bytes: sizeOf(index) })),
    },
    searched: paths.length,
    tooLarge: tooLarge.sort(),
    notes,
  };
}

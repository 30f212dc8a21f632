/** Searches many files side by side, keeps their order, and shows the lines that were found. */

import { UserError } from "../core/errors.ts";
import type { ToolFiles } from "../core/tool.ts";
import { explained } from "../lib/file-error.ts";
import { SEARCH, type Targets } from "./grep-targets.ts";
import {
  countMatches,
  type MatchCount,
  renderMatches,
  type SearchedFile,
  type SearchOptions,
} from "./search-file.ts";
import { spellPath } from "./shown-paths.ts";
import { isOpen } from "./walk.ts";

/** Files that are open at once, and files between two looks at whether that is enough. */
const SIDE_BY_SIDE = 16;
const BATCH = 256;

export interface Matches {
  readonly found: readonly { readonly file: SearchedFile; readonly count: number }[];
  /** As they are shown. */
  readonly binary: readonly string[];
  readonly unreadable: readonly string[];
  /** All files were searched to their ends. */
  readonly isComplete: boolean;
}

/** A page of results. */
export interface Shown {
  readonly parts: readonly string[];
  /** Between two parts. */
  readonly separator: string;
  /** How many matches or files there are, as far as is known. */
  readonly total: number;
  /** The first one that was not shown. */
  readonly next: number;
  readonly summary: readonly string[];
}

export interface SearchAllOptions extends SearchOptions {
  readonly files: ToolFiles;
  readonly mode: "files_with_matches" | "content" | "count";
  /** Matches, or files, after which the search may end. */
  readonly wanted: number;
}

/** Only counts: which lines to show is known when all that come before are counted. */
export async function searchAll(
  targets: Targets,
  { files, mode, wanted, ...options }: SearchAllOptions,
): Promise<Matches> {
  const most = mode === "count" ? Infinity : mode === "content" ? wanted : 1;
  const found: { file: SearchedFile; count: number }[] = [];
  const binary: string[] = [];
  const unreadable: string[] = [];
  let total = 0;
  let isComplete = true;

  for (let from = 0; from < targets.files.length; from += BATCH) {
    if (mode !== "count" && total >= wanted) {
      isComplete = false;
      break;
    }
    const batch = targets.files.slice(from, from + BATCH);
    const counts = await sideBySide(batch, async (file) => {
      const count = await countOrWhy(file, most, options);
      // Judged after, because few files match, and nothing of one that is closed may show, not even its count.
      return count !== 0 && (await isOpen(files, file.path, SEARCH)) ? count : 0;
    });
    for (const [index, count] of counts.entries()) {
      const file = batch[index];
      if (file === undefined || count === 0) continue;
      if (count === "binary") binary.push(files.display(file.path));
      else if (count === "unreadable") unreadable.push(files.display(file.path));
      else {
        found.push({ file, count });
        total += mode === "content" ? count : 1;
        if (count === most && mode === "content") isComplete = false;
      }
    }
  }
  return { found, binary: binary.sort(), unreadable: unreadable.sort(), isComplete };
}

async function countOrWhy(
  file: SearchedFile,
  most: number,
  options: SearchOptions,
): Promise<MatchCount | "unreadable"> {
  try {
    return await explained(SEARCH, file.path, () => countMatches(file, most, options));
  } catch (error) {
    if (error instanceof UserError) return "unreadable";
    throw error;
  }
}

async function sideBySide<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  async function lane(): Promise<void> {
    for (let index = next++; index < items.length; index = next++)
      results[index] = await work(items[index] as T);
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  return results;
}

export interface ShowBlocksOptions extends SearchOptions {
  readonly files: ToolFiles;
  readonly offset: number;
  readonly most: number;
  readonly before: number;
  readonly after: number;
  /** Characters of all blocks together. */
  readonly room: number;
}

/** Reads the files of one page again, to show what matches in them. */
export async function showBlocks(
  { found }: Matches,
  { files, offset, most, room, ...options }: ShowBlocksOptions,
): Promise<Shown> {
  const parts: string[] = [];
  let passed = 0;
  let left = room;
  for (const { file, count } of found) {
    const skip = Math.max(0, offset - passed);
    passed += count;
    if (skip >= count) continue;
    const take = Math.min(count - skip, most - parts.length);
    if (take <= 0) break;
    const name = spellPath(files.display(file.path));
    const blocks = await explained(SEARCH, name, () =>
      renderMatches(file, { ...options, skip, take, name, room: left }),
    );
    parts.push(...blocks);
    left -= blocks.reduce((sum, block) => sum + block.length + 2, 0);
    if (blocks.length < take) break;
  }
  const total = found.reduce((sum, { count }) => sum + count, 0);
  return { parts, separator: "\n\n", total, next: offset + parts.length, summary: [] };
}

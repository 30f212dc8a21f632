/** Searches one file: how many lines match, and how they look with the lines around them. */

import type { PinnedFiles } from "../core/tool.ts";
import type { Breather } from "../lib/breather.ts";
import { asBuffer } from "../lib/bytes.ts";
import { utf16Of } from "../lib/charset.ts";
import { countLines } from "./count-lines.ts";
import type { SearchPattern } from "./decoded-lines.ts";
import { type ReadLine, readLines } from "./read-lines.ts";

/** Smaller files are read at once, which is quicker; the rest as a stream. */
export const READ_AT_ONCE_BYTES = 1024 * 1024;
/** About what opening a file costs, as reading characters goes. */
const UNITS_A_FILE = 5_000;

export interface SearchedFile {
  readonly path: string;
  readonly bytes: number;
}

export interface SearchOptions {
  readonly system: PinnedFiles;
  readonly pattern: SearchPattern;
  readonly breather: Breather;
  readonly signal: AbortSignal;
}

/** `binary` when a file that is no text matches. */
export type MatchCount = number | "binary";

/** Counts matching lines, up to `most`. */
export async function countMatches(
  file: SearchedFile,
  most: number,
  options: SearchOptions,
): Promise<MatchCount> {
  const { pattern, breather } = options;
  await breather.take(UNITS_A_FILE);
  const { count, isBinary } = await countLines(chunksOf(file, options), { pattern, most, breather });
  return isBinary && count > 0 ? "binary" : count;
}

async function* chunksOf(
  { path, bytes }: SearchedFile,
  { system, pattern: { literal }, signal }: SearchOptions,
): AsyncGenerator<Uint8Array> {
  if (bytes > READ_AT_ONCE_BYTES) {
    yield* system.stream(path, { signal });
    return;
  }
  signal.throwIfAborted();
  const content = await system.read(path, { end: READ_AT_ONCE_BYTES });
  if (literal === undefined || holds(content, literal) || utf16Of(content) !== undefined) yield content;
}

function holds(content: Uint8Array, literal: string): boolean {
  return asBuffer(content).includes(literal, 0, "utf8");
}

export interface BlockOptions extends SearchOptions {
  /** Matching lines to pass over, and to show. */
  readonly skip: number;
  readonly take: number;
  readonly before: number;
  readonly after: number;
  /** Characters that the blocks may have together. The one that goes beyond is not shown. */
  readonly room: number;
  /** Of the file, as it is shown. */
  readonly name: string;
}

/** A block for each matching line: `path:line`, then the lines, `> N| text` the one that matches. */
export async function renderMatches(
  file: SearchedFile,
  { skip, take, before, after, room, name, ...options }: BlockOptions,
): Promise<readonly string[]> {
  const recent: string[] = [];
  const open: { lines: string[]; missing: number }[] = [];
  const blocks: string[] = [];
  let [seen, used] = [0, 0];
  let isFull = false;

  function close(lines: readonly string[]): void {
    const block = lines.join("\n");
    used += block.length + 2;
    if (used > room) isFull = true;
    if (!isFull) blocks.push(block);
  }

  function onLine({ number, isMatch, text }: ReadLine): boolean {
    const asContext = `  ${number}| ${text}`;
    for (const block of open) {
      block.lines.push(asContext);
      block.missing--;
    }
    while (open[0]?.missing === 0) close(open.shift()?.lines ?? []);
    if (isMatch && ++seen > skip && seen <= skip + take) {
      const lines = [`${name}:${number}`, ...recent, `> ${number}| ${text}`];
      if (after === 0) close(lines);
      else open.push({ lines, missing: after });
    }
    recent.push(asContext);
    if (recent.length > before) recent.shift();
    return !isFull && (seen < skip + take || open.length > 0);
  }

  await readLines(chunksOf(file, options), { ...options, onLine });
  for (const { lines } of open) close(lines);
  return blocks;
}

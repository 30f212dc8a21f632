/** Where the log ends: its last line, and what a crash left behind it. */

import type { Buffer } from "node:buffer";
import type { FileSystem } from "../core/platform.ts";
import { asBuffer } from "../lib/bytes.ts";
import { type Mark, sha256, unseal } from "./chain.ts";

const NEWLINE = 0x0a;
const FIRST_BLOCK = 64 * 1024;
/** What a crash leaves is no longer than one write. */
const LONGEST_REST = 64 * 1024 * 1024;

export interface Tail {
  /** The last line that is whole; `undefined` when there is none. */
  readonly mark: Mark | undefined;
  /** `Found.torn` for whoever goes on. */
  readonly torn: string | undefined;
  /** Nothing at all was ever written there. */
  readonly isEmpty: boolean;
}

interface FileTail {
  readonly mark: Mark | undefined;
  /** What stands behind that line, without the newline at the end. */
  readonly rest: Uint8Array | undefined;
  readonly isTerminated: boolean;
}

/** Searches a block that ends where the file ends; `undefined` when more of the file must be seen. */
function searchBlock(block: Buffer, isWhole: boolean): FileTail | undefined {
  const isTerminated = block.at(-1) === NEWLINE;
  const content = isTerminated ? block.subarray(0, -1) : block;
  for (let end = content.length; end > 0; ) {
    const start = content.lastIndexOf(NEWLINE, end - 1) + 1;
    if (start === 0 && !isWhole) return undefined;
    const line = unseal(content.subarray(start, end));
    if (line !== undefined) {
      const rest = end === content.length ? undefined : content.subarray(end + 1);
      return { mark: { count: line.number, hash: line.hash }, rest, isTerminated };
    }
    end = start - 1;
  }
  return isWhole ? { mark: undefined, rest: content, isTerminated } : undefined;
}

async function tailOf(files: FileSystem, path: string, bytes: number): Promise<FileTail> {
  for (let size = FIRST_BLOCK; size <= LONGEST_REST; size *= 4) {
    const start = Math.max(0, bytes - size);
    const block = await files.read(path, { start, end: bytes });
    const found = searchBlock(asBuffer(block), start === 0);
    if (found !== undefined) return found;
  }
  throw new Error("There is no line of the audit log near the end of its file");
}

/** `paths` are those of the log's files, oldest first. */
export async function readTail(files: FileSystem, paths: readonly string[]): Promise<Tail> {
  const rests: Uint8Array[] = [];
  let isTerminated: boolean | undefined;
  let mark: Mark | undefined;
  for (const path of paths.toReversed()) {
    const bytes = (await files.stat(path))?.bytes ?? 0;
    if (bytes === 0) continue;
    const tail = await tailOf(files, path, bytes);
    isTerminated ??= tail.isTerminated;
    if (tail.rest !== undefined) rests.unshift(tail.rest);
    mark = tail.mark;
    if (mark !== undefined) break;
  }
  // A line that has its newline was written whole: what is wrong with it now is no crash.
  const isTorn = isTerminated === false;
  return { mark, torn: isTorn ? digestOf(rests) : undefined, isEmpty: isTerminated === undefined };
}

/** Of pieces that stand on lines of their own. */
function digestOf(pieces: readonly Uint8Array[]): string {
  return sha256(...pieces.flatMap((piece, index) => (index === 0 ? [piece] : ["\n", piece])));
}

/** Some lines out of a stream of bytes, in memory that grows neither with the file nor with its lines. */

import { Buffer } from "node:buffer";
import { head } from "../lib/text.ts";

const NEWLINE = 0x0a;

export interface WindowOptions {
  /** The first line wanted, from 1. */
  readonly first: number;
  /** The number it is shown with (the same). */
  readonly label?: number;
  /** Whether the stream begins where the file does (yes). */
  readonly isWhole?: boolean;
  readonly maxLines: number;
  /** Of the lines as they are shown, numbers and line ends included. */
  readonly maxChars: number;
  /** How much of the stream may pass before the search is given up. */
  readonly maxBytes: number;
}

export interface LineWindow {
  /** `N| text`, with LF for CRLF and without a byte order mark. */
  readonly lines: readonly string[];
  /** How much of the first line is shown, when it is longer than the window. */
  readonly cutAt: number | undefined;
  /**
   * `end`: nothing follows, and `total` lines were there. `more`: a line follows. `gaveUp`: `maxBytes`
   * passed, and what follows is not known.
   */
  readonly stop: { readonly kind: "end"; readonly total: number } | { readonly kind: "more" | "gaveUp" };
}

/** How far the reading got. */
interface Progress {
  newlines: number;
  bytes: number;
  endsInLine: boolean;
  gaveUp: boolean;
}

/** What follows the first `skip` newlines. Kept apart from the splitting because it must be fast over long files. */
async function* skipLines(
  chunks: AsyncIterable<Uint8Array>,
  skip: number,
  maxBytes: number,
  progress: Progress,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    if (progress.bytes >= maxBytes) {
      progress.gaveUp = true;
      return;
    }
    progress.bytes += chunk.length;
    progress.endsInLine = chunk.at(-1) !== NEWLINE;
    let from = 0;
    while (progress.newlines < skip) {
      const newline = chunk.indexOf(NEWLINE, from);
      if (newline < 0) break;
      progress.newlines++;
      from = newline + 1;
    }
    if (progress.newlines === skip && from < chunk.length) yield chunk.subarray(from);
  }
}

/** Each line without its newline, or a little more than the first `keep` bytes of one that is longer. */
async function* splitLines(chunks: AsyncIterable<Uint8Array>, keep: number): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let isShown = false;
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; ) {
      const newline = chunk.indexOf(NEWLINE, from);
      const end = newline < 0 ? chunk.length : newline;
      if (!isShown) {
        parts.push(chunk.subarray(from, end));
        length += end - from;
      }
      if (!isShown && (newline >= 0 || length > keep)) {
        yield Buffer.concat(parts);
        isShown = true;
      }
      if (isShown) parts = [];
      if (newline >= 0) [isShown, length] = [false, 0];
      from = end + 1;
    }
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}

function decodeLine(bytes: Uint8Array, isFirst: boolean): string {
  // The mark is only one at the beginning of the file; elsewhere the decoder must not drop it.
  const text = new TextDecoder("utf-8", { ignoreBOM: !isFirst }).decode(bytes);
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}

export async function readWindow(
  chunks: AsyncIterable<Uint8Array>,
  { first, label = first, isWhole = true, maxLines, maxChars, maxBytes }: WindowOptions,
): Promise<LineWindow> {
  const progress: Progress = { newlines: 0, bytes: 0, endsInLine: false, gaveUp: false };
  const lines: string[] = [];
  let cutAt: number | undefined;
  let room = maxChars;

  // A code unit takes at most three bytes, so that this much fills the window for certain.
  for await (const bytes of splitLines(skipLines(chunks, first - 1, maxBytes, progress), 3 * maxChars)) {
    const text = decodeLine(bytes, isWhole && first + lines.length === 1);
    const prefix = `${label + lines.length}| `;
    const space = room - prefix.length - 1;
    const isTooLong = text.length > space;
    if (lines.length === maxLines || (isTooLong && lines.length > 0))
      return { lines, cutAt, stop: { kind: "more" } };
    const shown = isTooLong ? head(text, space) : text;
    if (isTooLong) cutAt = shown.length;
    lines.push(prefix + shown);
    room = space - shown.length;
  }
  if (progress.gaveUp) return { lines, cutAt, stop: { kind: "gaveUp" } };
  const before = progress.newlines + (progress.newlines < first - 1 && progress.endsInLine ? 1 : 0);
  return { lines, cutAt, stop: { kind: "end", total: before + lines.length } };
}

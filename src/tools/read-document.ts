/** The text of a PDF or of an office document, made in a thread of its own because any file may claim to be one. */

import { type ToolFiles, type ToolPorts, type ToolResult, toolError } from "../core/tool.ts";
import type { WorkerJobs } from "../core/workers.ts";
import { quote } from "../lib/file-error.ts";
import { linesOfText } from "./line-source.ts";
import { showLines, type WantedLines } from "./show-lines.ts";
import type { TargetFile } from "./target-file.ts";

const MIB = 1024 * 1024;
const LARGEST_MIB = 50;
const TIMEOUT_MS = 60_000;
/** Of the whole text, of which a window is shown. */
const MAX_DOCUMENT_CHARS = 2_000_000;
export const MOST_PAGES = 20;

export interface PageRange {
  /** From 1, both included. */
  readonly first: number;
  readonly last: number;
}

/** `3`, `2-5` or `7-`, no more than can be shown at once. `undefined` for anything else. */
export function parsePages(pages: string): PageRange | undefined {
  const [, from, dash, to] = /^\s*(\d{1,7})\s*(?:([-–])\s*(\d{1,7})?)?\s*$/.exec(pages) ?? [];
  if (from === undefined) return undefined;
  const first = Number(from);
  const most = first + MOST_PAGES - 1;
  const last = to !== undefined ? Math.min(Number(to), most) : dash === undefined ? first : most;
  return first >= 1 && last >= first ? { first, last } : undefined;
}

interface Reading {
  readonly target: TargetFile;
  readonly wanted: WantedLines;
  readonly signal: AbortSignal;
}

function refusal(path: string, reason: string): ToolResult {
  return toolError(`Cannot read ${quote(path)}: ${reason}`);
}

/** Nothing when it is larger than may be: then nothing of it is read, or nothing that is kept. */
async function load({ system }: ToolFiles, target: TargetFile): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const most = LARGEST_MIB * MIB;
  if (target.stat !== undefined && target.stat.bytes > most) return undefined;
  const { buffer, byteOffset, length } = await system.read(target.path, { end: most + 1 });
  if (length > most) return undefined;
  // What is shared with other threads cannot be handed to one.
  return buffer instanceof ArrayBuffer
    ? new Uint8Array(buffer, byteOffset, length)
    : new Uint8Array(buffer, byteOffset, length).slice();
}

const TOO_LARGE = `it has more than ${LARGEST_MIB} MiB, which is the most for a PDF or an office document`;

function withNotes(result: ToolResult, notes: readonly string[]): ToolResult {
  return result.ok && notes.length > 0 ? { ...result, text: [result.text, ...notes].join("\n") } : result;
}

export async function readOffice(
  { files, workers }: ToolPorts,
  { target, wanted, signal }: Reading,
): Promise<ToolResult> {
  const bytes = await load(files, target);
  if (bytes === undefined) return refusal(wanted.path, TOO_LARGE);
  const input = { bytes, maxChars: MAX_DOCUMENT_CHARS };
  const outcome = await workers.run("office", input, { timeoutMs: TIMEOUT_MS, signal });
  if (!outcome.ok) return refusal(wanted.path, outcome.reason);
  const { text, truncated } = outcome.output;
  if (text === "") return refusal(wanted.path, "there is no text in it");
  return withNotes(await showLines(linesOfText(text), wanted), truncated ? [cutNote("The document")] : []);
}

export async function readPdf(
  { files, workers }: ToolPorts,
  { target, wanted, signal }: Reading,
  pages: PageRange,
): Promise<ToolResult> {
  const bytes = await load(files, target);
  if (bytes === undefined) return refusal(wanted.path, TOO_LARGE);
  const input = { bytes, firstPage: pages.first, lastPage: pages.last, maxChars: MAX_DOCUMENT_CHARS };
  const outcome = await workers.run("pdf", input, { timeoutMs: TIMEOUT_MS, signal });
  if (!outcome.ok) return refusal(wanted.path, outcome.reason);
  const { pageCount } = outcome.output;
  if (pages.first > pageCount) {
    return refusal(wanted.path, `it has ${pagesOf(pageCount)}, and page ${pages.first} is not one of them`);
  }
  return withNotes(
    await showLines(linesOfText(textOf(outcome.output, pages.first)), wanted),
    pageNotes(outcome.output, pages.first),
  );
}

type PdfText = WorkerJobs["pdf"]["output"];

function textOf({ pages }: PdfText, first: number): string {
  return pages
    .map((text, index) => `[Page ${first + index}]\n${text || "(No text: it may be a scan or a picture)"}`)
    .join("\n\n");
}

function pageNotes({ pages, pageCount, truncated }: PdfText, first: number): string[] {
  const last = first + pages.length - 1;
  const shown = pages.length === 1 ? `Page ${first}` : `Pages ${first}-${last}`;
  const next = last < pageCount ? ` Use pages="${last + 1}-" to go on` : "";
  return [...(truncated ? [cutNote(`Page ${last}`)] : []), `(${shown} of ${pageCount}.${next})`];
}

function pagesOf(count: number): string {
  return count === 1 ? "1 page" : `${count} pages`;
}

function cutNote(what: string): string {
  return `(${what} is longer: only so much of its text can be read)`;
}

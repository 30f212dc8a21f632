/** Reads a file of records forgivingly: damage costs the lines it hit, and a newer version is refused. */

import { UserError } from "../../core/errors.ts";
import type { FileSystem, Log } from "../../core/platform.ts";
import { never } from "../../lib/abort.ts";
import { asBuffer } from "../../lib/bytes.ts";
import { errorCode } from "../../lib/error-code.ts";
import { explained, quote } from "../../lib/file-error.ts";
import { fileStamp } from "../../lib/file-stamp.ts";
import { isObject } from "../../lib/is-object.ts";
import { parseJson } from "../../lib/parse-json.ts";
import { linesFromStart } from "../../lib/placed-lines.ts";
import type { ParseRecord } from "./records.ts";

/** The first line of every file. */
export const HEADER = JSON.stringify({ v: 1 });

/** What stands in a file. */
export interface Contents {
  /** `lost` when there is something and nothing of it, or not all, can be read. */
  readonly kind: "missing" | "readable" | "lost";
  readonly bytes: number;
  /** Its last line has its end. */
  readonly isTerminated: boolean;
  readonly damaged: number;
  /** Damaged lines that the owner was told of. */
  readonly reported: number;
}

const MISSING: Contents = { kind: "missing", bytes: 0, isTerminated: true, damaged: 0, reported: 0 };

const NEWLINE = 0x0a;

/** The disk has lost what was there; any other error is one of this moment, or of who we are. */
const LOSSES = new Set(["EIO", "EBADMSG", "EUCLEAN"]);

interface ReadOptions<Record> {
  readonly files: FileSystem;
  readonly path: string;
  readonly parse: ParseRecord<Record>;
  readonly onRecord: (record: Record) => void;
}

/** Changes nothing. Throws a `UserError` for a newer version and for what the system does not let us read. */
export async function readRecords<Record>(options: ReadOptions<Record>): Promise<Contents> {
  const { files, path } = options;
  return explained("read", path, async () => {
    const found = await files.stat(path);
    if (found === undefined) return MISSING;
    const isTerminated = await endsWithNewline(files, path, found.bytes);
    const { understood, damaged, reported, isCut } = await readLines(options);
    const isLost = isCut || (found.bytes > 0 && understood === 0);
    return { kind: isLost ? "lost" : "readable", bytes: found.bytes, isTerminated, damaged, reported };
  });
}

async function endsWithNewline(files: FileSystem, path: string, bytes: number): Promise<boolean> {
  const last = bytes === 0 ? undefined : await files.read(path, { start: bytes - 1, end: bytes });
  return last === undefined || last[0] === NEWLINE;
}

async function readLines<Record>({ files, path, parse, onRecord }: ReadOptions<Record>) {
  const counts = { understood: 0, damaged: 0, reported: 0, isCut: false };
  try {
    for await (const { at, bytes } of linesFromStart(files.stream(path, { signal: never }))) {
      const line = textOf(bytes);
      if (line === "" && !bytes.includes(0)) continue;
      const value = parseJson(line);
      const record = parse(value);
      const reported = reportedIn(value);
      const isHeader = at === 0 && isObject(value) && "v" in value;
      if (isHeader) requireKnownVersion(value["v"], path);
      if (record !== undefined) onRecord(record);
      else if (reported !== undefined) counts.reported = reported;
      else if (!isHeader) {
        counts.damaged++;
        continue;
      }
      counts.understood++;
    }
  } catch (error) {
    if (!LOSSES.has(errorCode(error) ?? "")) throw error;
    counts.isCut = true;
  }
  return counts;
}

/** A power cut leaves NULs around a line; what is between them may be whole. */
function textOf(bytes: Uint8Array): string {
  const isFiller = (byte: number | undefined) => byte === 0 || byte === 0x0d || byte === 0x20;
  let start = 0;
  let end = bytes.length;
  while (start < end && isFiller(bytes[start])) start++;
  while (end > start && isFiller(bytes[end - 1])) end--;
  return asBuffer(bytes.subarray(start, end)).toString("utf8");
}

function reportedIn(value: unknown): number | undefined {
  return isObject(value) && typeof value["damaged"] === "number" ? value["damaged"] : undefined;
}

function requireKnownVersion(version: unknown, path: string): void {
  if (version === 1) return;
  throw new UserError(`Cannot read ${quote(path)}: it was written by a newer version of nanobot`, {
    hint: "Install that version again, or move the file away to begin without what is in it",
  });
}

/** The line that says so. */
export function reportOf(damaged: number): string {
  return JSON.stringify({ damaged });
}

/**
 * Tells of damage that is new, and moves a file that is lost out of the way of the one that will take its
 * place. Resolves to whether there is a file to go on with.
 */
export async function settle(
  { kind, damaged, reported }: Contents,
  { files, path, log, now }: { files: FileSystem; path: string; log: Log; now: number },
): Promise<boolean> {
  if (kind === "missing") return false;
  if (kind === "readable") {
    if (damaged > reported) log.warn("Left damaged lines of a journal out", { path, lines: damaged });
    return true;
  }
  const kept = `${path}.corrupt-${fileStamp(now)}`;
  await explained("move away", path, () => files.rename(path, kept));
  log.error("Could not read a journal; it was kept and a new one begun", { path, kept });
  return false;
}

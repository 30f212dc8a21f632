/** `audit.head`: the anchor of the log's end, and where the part of it that is kept begins. */

import { Buffer } from "node:buffer";
import type { FileSystem } from "../core/platform.ts";
import { errorCode } from "../lib/error-code.ts";
import { isObject } from "../lib/is-object.ts";
import { parseJson } from "../lib/parse-json.ts";
import type { Mark } from "./chain.ts";

const VERSION = 1;
const FILE_MODE = 0o600;
/** A head that is longer is none of ours. */
const LONGEST = 1_000;

/** All lines up to this mark were on disk when it was written. */
export interface AuditHead extends Mark {
  /** The last line that was put away with its file; `null` when an earlier head was lost and nobody knows. */
  readonly start: Mark | null;
}

export type HeadState = AuditHead | "missing" | "damaged" | "newer";

function formatHead({ count, hash, start }: AuditHead): string {
  return `${JSON.stringify({ v: VERSION, count, hash, start: start && { count: start.count, hash: start.hash } })}\n`;
}

function parseMark(value: unknown): Mark | undefined {
  if (!isObject(value)) return undefined;
  const { count, hash } = value;
  if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 0) return undefined;
  return typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash) ? { count, hash } : undefined;
}

function parseHead(text: string): AuditHead | "damaged" | "newer" {
  const value = parseJson(text);
  if (!isObject(value)) return "damaged";
  const { v } = value;
  if (typeof v === "number" && Number.isSafeInteger(v) && v > VERSION) return "newer";
  const mark = parseMark(value);
  const start = value["start"] === null ? null : parseMark(value["start"]);
  if (mark === undefined || start === undefined) return "damaged";
  const head = { ...mark, start };
  // Byte for byte, so that no change of it goes unseen.
  return formatHead(head) === text ? head : "damaged";
}

export async function readHead(files: FileSystem, path: string): Promise<HeadState> {
  try {
    return parseHead(Buffer.from(await files.read(path, { end: LONGEST })).toString("utf8"));
  } catch (error) {
    // ENOTDIR too: below a file there is nothing.
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return "missing";
    throw error;
  }
}

/** On disk when it resolves; a crash leaves the old one or the new one. */
export function writeHead(files: FileSystem, path: string, head: AuditHead): Promise<void> {
  return files.replace(path, Buffer.from(formatHead(head)), { mode: FILE_MODE });
}

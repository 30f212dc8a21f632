/** Reading the configuration's text: strict JSON, and for what is wrong the line it is in. */

import type { Node } from "jsonc-parser";
import { UserError } from "../core/errors.ts";
import type { FileSystem } from "../core/platform.ts";
import { utf16Of } from "../lib/charset.ts";
import { explained, quote } from "../lib/file-error.ts";
import { findJsonProblem, lineAt } from "../lib/json-problem.ts";
import { shown } from "./keys.ts";
import type { Path } from "./shape.ts";

const MAX_BYTES = 1024 * 1024;
/** Deeper than any key goes, and far from what overflows a stack. */
const MAX_DEPTH = 64;

/** A complaint about the file that names the place and never a value. */
export function configError(
  file: string,
  line: number | undefined,
  problem: string,
  hint?: string,
): UserError {
  const where = line === undefined ? "" : `line ${line}, `;
  return new UserError(`Read config ${quote(file)}: ${where}${problem}`, hint === undefined ? {} : { hint });
}

/** The file's text without its byte order mark; `undefined` when there is no file. */
export async function readConfigText(files: FileSystem, path: string): Promise<string | undefined> {
  const bytes = await explained("read config", path, () => readBounded(files, path));
  return bytes && decode(bytes, path);
}

async function readBounded(files: FileSystem, path: string): Promise<Uint8Array | undefined> {
  const stat = await files.stat(path);
  if (stat === undefined) {
    if (await files.linkStat(path)) throw configError(path, undefined, "it is a link to nothing");
    return undefined;
  }
  if (stat.kind === "directory") throw configError(path, undefined, "it is a folder");
  if (stat.kind !== "file") throw configError(path, undefined, "it is not a regular file");
  const bytes = await files.read(path, { end: MAX_BYTES + 1 });
  if (bytes.length > MAX_BYTES) throw configError(path, undefined, "it is larger than 1 MiB");
  return bytes;
}

function decode(bytes: Uint8Array, path: string): string {
  if (utf16Of(bytes) !== undefined) {
    throw configError(path, 1, "the text is UTF-16", "Save the file as UTF-8");
  }
  try {
    // Takes a byte order mark away.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // The decoder says only that something is wrong; the line is what helps.
    throw configError(path, firstBadLine(bytes), "the text is not UTF-8", "Save the file as UTF-8");
  }
}

function firstBadLine(bytes: Uint8Array): number {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline;
    try {
      decoder.decode(bytes.subarray(start, end));
    } catch {
      // This is the line that was looked for.
      return line;
    }
    start = end + 1;
  }
  return line;
}

/** The JSON value of the text. Throws a `UserError` with the line for whatever is not exactly one. */
export async function parseConfigText(text: string, path: string): Promise<unknown> {
  const nul = text.indexOf("\0");
  if (nul !== -1) throw configError(path, lineAt(text, nul), "there is a NUL byte");
  if (text.trim() === "") throw configError(path, undefined, "it is empty; an empty configuration is {}");
  const structure = findStructureProblem(text);
  if (structure?.kind === "deep") {
    throw configError(path, lineAt(text, structure.offset), `it is nested more than ${MAX_DEPTH} deep`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's message quotes the text, where secrets are.
    const { line, problem } = await findJsonProblem(text);
    throw configError(path, line, problem);
  }
  if (structure?.kind === "twice") {
    throw configError(
      path,
      lineAt(text, structure.offset),
      `the key "${shown(structure.key)}" is there twice`,
    );
  }
  return value;
}

type StructureProblem =
  | { readonly kind: "deep"; readonly offset: number }
  | { readonly kind: "twice"; readonly offset: number; readonly key: string };

/** What JSON.parse lets pass and we do not: nesting without end, and a key that hides another. */
export function findStructureProblem(text: string): StructureProblem | undefined {
  /** The keys seen of each object that is open; nothing for a list. */
  const open: (Set<string> | undefined)[] = [];
  let twice: StructureProblem | undefined;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === "{" || sign === "[") {
      open.push(sign === "{" ? new Set() : undefined);
      if (open.length > MAX_DEPTH) return { kind: "deep", offset: at };
    } else if (sign === "}" || sign === "]") {
      open.pop();
    } else if (sign === '"') {
      const end = endOfString(text, at);
      if (isFollowedByColon(text, end)) {
        const key = unescapeKey(text.slice(at, end));
        if (open.at(-1)?.has(key)) twice ??= { kind: "twice", offset: at, key };
        open.at(-1)?.add(key);
      }
      at = end - 1;
    }
  }
  return twice;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return Math.min(at + 1, text.length);
}

function isFollowedByColon(text: string, start: number): boolean {
  let at = start;
  while (/\s/.test(text[at] ?? "")) at++;
  return text[at] === ":";
}

function unescapeKey(token: string): string {
  if (!token.includes("\\")) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    // Not a JSON string, so the file is no JSON, and the parser says so with the line.
    return token;
  }
}

/** The line of the key at `path`, or of the nearest thing around it that is there. */
export async function lineOf(text: string, path: Path): Promise<number | undefined> {
  const { parseTree, findNodeAtLocation } = await import("jsonc-parser");
  const root = parseTree(text);
  if (root === undefined) return undefined;
  let node: Node = root;
  for (let length = path.length; length > 0; length--) {
    const there = findNodeAtLocation(root, path.slice(0, length));
    if (there) {
      node = there.parent?.type === "property" ? there.parent : there;
      break;
    }
  }
  return lineAt(text, node.offset);
}

/** How each line of the log is bound to the one before it: the form of a line, written and read byte for byte. */

import { createHash } from "node:crypto";
import { asBuffer } from "../lib/bytes.ts";

/** A place in the log: how many lines there are up to it, and the hash of the last of them. */
export interface Mark {
  readonly count: number;
  readonly hash: string;
}

/** Before the first line. */
export const BEGINNING: Mark = { count: 0, hash: "0".repeat(64) };

/** What whoever adds a line found or lost before it, and says in it. */
export interface Found {
  /** SHA-256 of what a crash left behind the line before; of nothing when only its newline was missing. */
  readonly torn?: string;
  /** What was wrong with the anchor of the end. */
  readonly anchor?: "missing" | "damaged";
  /** How many calls could not be recorded until then. Some of them may be there: what became of a write that failed is not known. */
  readonly lost?: number;
}

export interface SealedLine extends Found {
  /** It is this line of the log, counted from 1. */
  readonly number: number;
  /** What the hash is over, beside the hash of the line before. */
  readonly text: Uint8Array;
  readonly hash: string;
}

const HASH_HEAD = ',"hash":"';
const HASH_TAIL = '"}';
const HASH_DIGITS = 64;
/** How much of a line's end is its hash. */
export const SEAL_BYTES = HASH_HEAD.length + HASH_DIGITS + HASH_TAIL.length;

/** Longer than what stands before the fields of an entry. */
const HEAD_BYTES = 160;
const LINE_HEAD =
  /^\{"n":([1-9]\d{0,14}),(?:"torn":"([0-9a-f]{64})",)?(?:"anchor":"(missing|damaged)",)?(?:"lost":([1-9]\d{0,14}),)?"id":"/;
const SEAL = /^,"hash":"([0-9a-f]{64})"\}$/;

/** In hexadecimal. */
export function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

export function linkHash(previous: string, text: string | Uint8Array): string {
  return sha256(previous, text);
}

/** The line behind `before`, without its newline. `fields` is the inside of a JSON object that begins with an id. */
export function seal(before: Mark, fields: string, { torn, anchor, lost = 0 }: Found = {}) {
  const count = before.count + 1;
  const found = [
    ...(torn === undefined ? [] : [`"torn":"${torn}",`]),
    ...(anchor === undefined ? [] : [`"anchor":"${anchor}",`]),
    ...(lost === 0 ? [] : [`"lost":${lost},`]),
  ];
  const text = `{"n":${count},${found.join("")}${fields}`;
  const hash = linkHash(before.hash, text);
  const mark: Mark = { count, hash };
  return { line: `${text}${HASH_HEAD}${hash}${HASH_TAIL}`, mark };
}

function latin1(bytes: Uint8Array): string {
  return asBuffer(bytes).toString("latin1");
}

/** Reads one line; `undefined` for what no line of ours looks like. Whether the hash is right is for others to say. */
export function unseal(line: Uint8Array): SealedLine | undefined {
  const end = line.length - SEAL_BYTES;
  const hash = sealedHash(line);
  const head =
    hash === undefined ? null : LINE_HEAD.exec(latin1(line.subarray(0, Math.min(end, HEAD_BYTES))));
  if (hash === undefined || head === null) return undefined;
  const [, number, torn, anchor, lost] = head;
  return {
    number: Number(number),
    text: line.subarray(0, end),
    hash,
    ...(torn === undefined ? {} : { torn }),
    ...(anchor === "missing" || anchor === "damaged" ? { anchor } : {}),
    ...(lost === undefined ? {} : { lost: Number(lost) }),
  };
}

/** The hash at the end of a line, if there is one. */
export function sealedHash(line: Uint8Array): string | undefined {
  return SEAL.exec(latin1(line.subarray(Math.max(0, line.length - SEAL_BYTES))))?.[1];
}

/** JSON as models write it: read as it stands if it is valid, and mended if it is broken but whole. */

import { jsonrepair } from "jsonrepair";
import type { JsonValue } from "../core/json.ts";
import { createJsonTracker } from "./json-tracker.ts";
import { parseJson } from "./parse-json.ts";

export type LenientJson =
  /** `isExact` when the text itself is the JSON of the value. */
  | { readonly ok: true; readonly value: JsonValue; readonly isExact: boolean }
  | { readonly ok: false; readonly seemsCutOff: boolean };

/** Mending takes time that can grow with the square of the length. */
const LONGEST_MENDED = 128 * 1024;
/** Far below what overflows the stack. */
const DEEPEST = 512;
const FENCED = /^\s*```\w*\s([\s\S]*?)(?:```\s*)?$/;

/** What is read from JSON is JSON. */
function parse(text: string): JsonValue | undefined {
  return parseJson(text) as JsonValue | undefined;
}

function mend(text: string): JsonValue | undefined {
  try {
    return JSON.parse(jsonrepair(text));
  } catch {
    return undefined; // What is nested too deeply to be mended ends here, too.
  }
}

/** Whether every bracket and string that `text` opens is closed. */
function isWhole(text: string): boolean {
  const tracker = createJsonTracker();
  tracker.pass(text);
  return tracker.depth === 0 && !tracker.inString;
}

/**
 * Text that breaks off is never completed: the rest could only be guessed, and half a file would be
 * written, or half a command run. Only objects and lists are mended: anything else is no JSON at all.
 */
export function parseLenientJson(text: string): LenientJson {
  const exact = parse(text);
  if (exact !== undefined) return { ok: true, value: exact, isExact: true };
  const inside = FENCED.exec(text)?.[1];
  const fenced = inside === undefined ? undefined : parse(inside);
  if (fenced !== undefined) return { ok: true, value: fenced, isExact: false };
  if (!isWhole(text)) return { ok: false, seemsCutOff: true };
  const mended = text.length > LONGEST_MENDED ? undefined : mend(inside ?? text);
  if (typeof mended !== "object" || mended === null) return { ok: false, seemsCutOff: false };
  return { ok: true, value: mended, isExact: false };
}

/** What is nested by the thousand overflows the stack of whatever walks through it. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item));
}

/** The JSON of a decoded value, unless it is nested too deeply to be written. */
export function jsonOf(value: object): string | undefined {
  return isDeeperThan(DEEPEST, value) ? undefined : JSON.stringify(value);
}

/** The entries of `HISTORY.md` and of the newer original's `history.jsonl`, written and read. */

import type { HistoryEntry } from "../core/memory.ts";
import { isObject } from "../lib/is-object.ts";
import { parseJson } from "../lib/parse-json.ts";
import { leftOutCharacters } from "../lib/phrases.ts";
import { headTail } from "../lib/text.ts";
import { plainText } from "./plain-text.ts";
import { STAMPED } from "./stamp.ts";

/** Stands before what was not summed up but kept as it was said. */
export const RAW = "[RAW]";

const LONGEST = 8_000;
export const LONGEST_RAW = 16_000;

function capped(text: string): string {
  return headTail(text, text.startsWith(RAW) ? LONGEST_RAW : LONGEST, leftOutCharacters);
}

/**
 * What an entry says, without a blank line and without a line that could be taken for the beginning of another entry.
 * "" when nothing is left.
 */
export function entryText(text: string): string {
  // Models have been told for long to begin with the time, which stands there already.
  const said = capped(plainText(text).replace(STAMPED, ""));
  return said
    .replace(/\n\s*\n/g, "\n")
    .split("\n")
    .map((line) => (STAMPED.test(line) ? `  ${line}` : line.trimEnd()))
    .join("\n")
    .trim();
}

/** `text` comes from `entryText`. */
export function formatEntry(at: string, text: string): string {
  return `[${at}] ${text}\n`;
}

/** The messages of a raw entry of the original, which are none of their own. */
const RAW_LINE = /^\[[^\]\n]{1,40}\] (USER|ASSISTANT|TOOL|SYSTEM)\b/;

/** Oldest first. Headings, comments and rules between entries are none. */
export function parseHistory(text: string): readonly HistoryEntry[] {
  const entries: { at: string | undefined; lines: string[] }[] = [];
  let isOpen = false;
  for (const line of text.split(/\r?\n/)) {
    const open = isOpen ? entries.at(-1) : undefined;
    const isRawLine = open?.lines[0]?.startsWith(RAW) === true && RAW_LINE.test(line);
    const stamp = isRawLine ? null : STAMPED.exec(line);
    if (stamp !== null) {
      const [whole, day, time] = stamp;
      entries.push({ at: time === undefined ? day : `${day} ${time}`, lines: [line.slice(whole.length)] });
      isOpen = true;
    } else if (line.trim() === "") {
      isOpen = false;
    } else if (open !== undefined) {
      open.lines.push(line);
    } else if (!/^\s*(#|<!--|---)/.test(line)) {
      entries.push({ at: undefined, lines: [line] });
      isOpen = true;
    }
  }
  return entries.map(({ at, lines }) => ({ at, text: capped(lines.join("\n").trim()) }));
}

/** Oldest first; lines that are damaged are left out, and so are empty ones. */
export function parseHistoryLines(text: string): readonly HistoryEntry[] {
  return text.split("\n").flatMap((line) => {
    const value = parseJson(line);
    if (!isObject(value) || typeof value["content"] !== "string") return [];
    const { timestamp, content } = value;
    const said = capped(content.toWellFormed().trim());
    const isTime = typeof timestamp === "string" && /^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2})?/.test(timestamp);
    return said === ""
      ? []
      : [{ at: isTime ? timestamp.slice(0, 16).replace("T", " ") : undefined, text: said }];
  });
}

/** Both together by time, oldest first. An entry that does not say when it was stays behind the one before it. */
export function mergeHistories(...histories: readonly (readonly HistoryEntry[])[]): readonly HistoryEntry[] {
  const timed = histories.flatMap((history) => {
    let last = "";
    return history.map((entry) => {
      last = entry.at ?? last;
      return { entry, at: last };
    });
  });
  return timed
    .sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)))
    .map(({ entry }) => entry);
}

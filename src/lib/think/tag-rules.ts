/** Decides what a tag in visible text is, by where it stands and by the little that follows it. */

import type { CodeTracker } from "./code-tracker.ts";
import type { Tag, ThinkName } from "./tags.ts";

/**
 * `mention` is an opener that is talked about, and given as text. `drop` is a tag that means nothing and is
 * left out. `wait` is the answer as long as what may still come decides.
 */
export type Verdict = "text" | "mention" | "drop" | "reasoning" | "call" | "wait";

/** Where the tag stands. */
export interface Place {
  readonly code: Pick<CodeTracker, "lineIsEmpty" | "lineIsBlank" | "inFence" | "openRun">;
  /** Nothing visible came before. */
  readonly atStart: boolean;
  /** What stands directly before the tag: one character, or nothing. */
  readonly before: string;
  /** Nothing but white space came behind a block or a call. */
  readonly isBehindBlock: boolean;
  /** An opener was mentioned before. */
  readonly hasMention: boolean;
  readonly takesCalls: boolean;
}

/** What follows the tag, up to the bound. */
export interface Behind {
  readonly text: string;
  /** There will be more of it. */
  readonly isOpen: boolean;
}

/** How much of the text behind a tag is waited for. What stands further away decides nothing. */
export const FARTHEST = 500;

interface Line {
  readonly text: string;
  readonly end: "newline" | "open" | "nothing more";
}

const SPAN = /(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/gs;
const GAP = /[\s\p{P}|]/u;
const SENTENCE_SIGN = /^[,.;:!?]\s/;
const CONNECTOR = /^(?:and|or|to)?$/i;
const NO_WORD = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

function lineOf({ text, isOpen }: Behind): Line {
  const end = text.indexOf("\n");
  if (end !== -1) return { text: text.slice(0, end), end: "newline" };
  return { text, end: isOpen ? "open" : "nothing more" };
}

/** What stands before the first closer that is not in a code span, if there is one. */
function insideOf(name: ThinkName, text: string): string | undefined {
  const prose = text.replace(SPAN, "code");
  const end = prose.toLowerCase().indexOf(`</${name}>`);
  return end === -1 ? undefined : prose.slice(0, end);
}

/** Whether what stands between an opener and its closer only joins the names of the two in a sentence. */
function isConnector(inside: string): boolean {
  return inside.trim() !== "" && CONNECTOR.test(inside.replace(NO_WORD, ""));
}

function judgeOpener(name: ThinkName, { code, atStart }: Place, { text, end }: Line): Verdict {
  if (atStart || code.lineIsBlank) return "reasoning";
  const next = text.charAt(0);
  if (next !== "" && !GAP.test(next)) return "reasoning";
  // No thought begins with a comma.
  if (SENTENCE_SIGN.test(text)) return "mention";
  if (end === "open") return "wait";
  const inside = insideOf(name, text);
  if (inside !== undefined) return isConnector(inside) ? "mention" : "reasoning";
  return text.trim() === "" && end === "newline" ? "reasoning" : "mention";
}

function judgeStray({ code, atStart, before }: Place, { text, end }: Line): Verdict {
  if (atStart || code.lineIsBlank) return "drop";
  // In a sentence there would be a space before it, or behind it.
  if (/[\p{L}\p{N}]/u.test(text.charAt(0)) && /[^\s\p{Pi}"'`]/u.test(before)) return "drop";
  if (text.trim() !== "") return "text";
  return end === "open" ? "wait" : "drop";
}

function judgeCall({ text, isOpen }: Behind): Verdict {
  const first = text.trimStart().charAt(0);
  if (first === "") return isOpen ? "wait" : "text";
  return "{[`".includes(first) ? "call" : "text";
}

/** Never `wait` where `behind` is not open, and what is decided stays as it is whatever else comes. */
export function judgeTag(tag: Tag, place: Place, behind: Behind): Verdict {
  const { code, atStart, hasMention, takesCalls } = place;
  if (code.inFence) return "text";
  const line = lineOf(behind);
  if (code.openRun > 0) {
    if (line.end === "open") return "wait";
    const runs = line.text.match(/`+/g) ?? [];
    if (runs.some((run) => run.length === code.openRun)) return "text";
  }
  switch (tag.kind) {
    case "open":
      return judgeOpener(tag.name, place, line);
    case "close":
      return hasMention ? "text" : judgeStray(place, line);
    case "marker":
      return judgeStray(place, line);
    case "analysis":
      return atStart ? "reasoning" : "text";
    case "selfClosing":
      return atStart ? "drop" : "text";
    case "openCall":
      // An indented one may be code, and one in a sentence is talked about.
      return takesCalls && (code.lineIsEmpty || place.isBehindBlock) ? judgeCall(behind) : "text";
    case "closeCall":
      return "text";
  }
}

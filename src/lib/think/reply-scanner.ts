/** Cuts a reply, in whatever pieces it arrives, into text and tags, and says which of the tags lie in code. */

import { type CodeTracker, createCodeTracker } from "./code-tracker.ts";
import { createTagReader, type FoundTag, type Tag } from "./reply-tags.ts";

interface TextToken {
  readonly type: "text";
  readonly raw: string;
}

export interface TagToken {
  readonly type: "tag";
  readonly raw: string;
  readonly tag: Tag;
  /** Only white space stands before it on its line. */
  readonly ownLine: boolean;
  /** It is part of an example. */
  readonly inCode: boolean;
  /** It stands directly between backticks. Told of hidden text only: elsewhere that is code. */
  readonly quoted: boolean;
}

export type Token = TextToken | TagToken;

export interface ReplyScanner {
  push(text: string): void;
  /** No more text will come, so that nothing is waited for. */
  end(): void;
  /** Puts text back that was taken last. */
  unread(text: string): void;
  /**
   * The next token of visible text, if there is enough text to tell. `atStart` says that nothing visible
   * came before.
   */
  next(options: { atStart: boolean }): Token | undefined;
  /** The next token of text that is not shown, whose backticks say nothing about what is visible. */
  nextHidden(options: { atStart: boolean }): Token | undefined;
  /** Hidden text begins here. */
  startHidden(): void;
  /** Whatever code came last has turned out to be hidden; what is visible stands in the middle of a line. */
  leaveCode(): void;
}

/** How far behind a tag the end of its code span is looked for. */
const LONGEST_SPAN = 2048;

const BACKTICK = 96;
const NEWLINE = 10;

/**
 * Where the code span of `run` backticks ends in which `from` stands. `none`: the line ends first, so there
 * is no span. `far`: it is too far away to wait for.
 */
function spanEnd(text: string, from: number, run: number, ended: boolean): number | "none" | "far" | "wait" {
  const limit = Math.min(text.length, from + LONGEST_SPAN);
  for (let at = from; at < limit; ) {
    const unit = text.charCodeAt(at);
    if (unit === NEWLINE) return "none";
    const start = at++;
    if (unit !== BACKTICK) continue;
    while (text.charCodeAt(at) === BACKTICK) at++;
    if (at === text.length && !ended) return "wait";
    if (at - start === run) return at;
  }
  if (limit === from + LONGEST_SPAN) return "far";
  return ended ? "none" : "wait";
}

export function createReplyScanner({ toolCalls }: { toolCalls: boolean }): ReplyScanner {
  const readTag = createTagReader({ toolCalls });
  const visible = createCodeTracker();
  let hidden: CodeTracker = createCodeTracker();
  let buffer = "";
  let at = 0;
  let ended = false;
  let previous = "";

  function take(end: number): string {
    const raw = buffer.slice(at, end);
    previous = raw.charAt(raw.length - 1);
    at = end;
    return raw;
  }

  /** Where the next tag, or what may become one, begins; the end of the buffer if there is none. */
  function findTag(atStart: boolean): { readonly start: number; readonly found?: FoundTag } {
    let isStart = atStart;
    let from = at;
    for (let start = buffer.indexOf("<", at); start !== -1; start = buffer.indexOf("<", from)) {
      isStart = isStart && buffer.slice(from, start).trim() === "";
      const found = readTag(buffer, start, { ended, atStart: isStart });
      if (found === "partial") return { start };
      if (found !== undefined) return { start, found };
      isStart = false;
      from = start + 1;
    }
    return { start: buffer.length };
  }

  return {
    push(text) {
      buffer = buffer.slice(at) + text;
      at = 0;
    },
    end() {
      ended = true;
    },
    unread(text) {
      // Most often it still lies in the buffer. Long buffers are not to be copied for each short piece.
      if (text.length <= at && buffer.startsWith(text, at - text.length)) at -= text.length;
      else {
        buffer = text + buffer.slice(at);
        at = 0;
      }
    },
    next({ atStart }) {
      const { start, found } = findTag(atStart);
      if (start > at) {
        const raw = take(start);
        visible.pass(raw);
        return { type: "text", raw };
      }
      if (found === undefined) return undefined;
      const { inFence, openRun, lineIsBlank } = visible.locate();
      const span = inFence || openRun === 0 ? undefined : spanEnd(buffer, start, openRun, ended);
      if (span === "wait") return undefined;
      if (typeof span === "number") {
        const raw = take(span);
        visible.pass(raw);
        return { type: "text", raw };
      }
      if (span === "none") visible.dropRun();
      const inCode = inFence || span === "far";
      const raw = take(found.end);
      if (inCode) visible.pass(raw);
      return { type: "tag", raw, tag: found.tag, ownLine: lineIsBlank, inCode, quoted: false };
    },
    nextHidden({ atStart }) {
      const { start, found } = findTag(atStart);
      if (start > at) {
        const raw = take(start);
        hidden.pass(raw);
        return { type: "text", raw };
      }
      if (found === undefined) return undefined;
      const isBehindBacktick = previous === "`";
      if (isBehindBacktick && found.end === buffer.length && !ended) return undefined;
      const quoted = isBehindBacktick && buffer.charAt(found.end) === "`";
      const { inFence, lineIsBlank } = hidden.locate();
      const raw = take(found.end);
      hidden.pass(raw);
      return { type: "tag", raw, tag: found.tag, ownLine: lineIsBlank, inCode: inFence, quoted };
    },
    startHidden() {
      hidden = createCodeTracker();
      previous = "";
    },
    leaveCode() {
      visible.reset();
    },
  };
}

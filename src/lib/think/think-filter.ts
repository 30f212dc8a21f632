/**
 * Tells what a model says from what it only thinks, and from the calls it writes as text, while its reply
 * streams by. The outcome does not depend on how the text is cut.
 *
 * | tag              | where it stands                                        | what it is              |
 * | ---------------- | ------------------------------------------------------ | ----------------------- |
 * | any              | in a code fence, or in a code span on its line         | text                    |
 * | `<think>`        | at the start; first on its line; before a word; at its | reasoning               |
 * |                  | line's end; before its closer and more than "and"      |                         |
 * |                  | elsewhere, and before a sign that goes on with the     | a mention, that is text |
 * |                  | sentence                                               |                         |
 * | `<think/>`       | at the start                                           | left out                |
 * | stray `</think>` | at the start; first or last on its line, or between    | left out; what was said |
 * |                  | two words without a space; behind no mention           | before it was reasoning |
 * | gpt-oss analysis | at the start                                           | reasoning               |
 * | other markers    | at the start; at their line's end                      | left out                |
 * | `<tool_call>`    | the first thing on its line, or behind another; before | calls                   |
 * |                  | `{`, `[` or a backtick, and around nothing else        |                         |
 *
 * Anything else is text. `<thinking>` and `<thought>` are as `<think>`. What decides lies on the tag's line and
 * at most `FARTHEST` characters behind it: that much text is held back, and a block in the middle of a line that
 * begins with a space is known for reasoning only if it ends within that bound. Reasoning ends with the reply or
 * with its closer, unless that stands directly between backticks. If only a closer of another name came, what
 * stands behind that is the answer.
 *
 * A reply that `startsInside` a block is held back until a closer comes. If none comes it is text, except that
 * what has grown beyond `LONGEST_START` is given as reasoning, and stays that.
 */

import { createJsonTracker, type JsonTracker } from "../json-tracker.ts";
import { parseTextCalls, type TextCall } from "../text-calls.ts";
import { createCodeTracker } from "./code-tracker.ts";
import { FARTHEST, judgeTag, type Verdict } from "./tag-rules.ts";
import { readTag, type Tag, type ThinkName } from "./tags.ts";

/** What a reply turns out to consist of, in order. Text and reasoning come in any number of pieces. */
export interface ThinkSink {
  text(piece: string): void;
  reasoning(piece: string): void;
  /** `raw` is what they were written as. */
  calls(calls: readonly TextCall[], raw: string): void;
  /** A closer without an opener came: the text so far was reasoning. */
  strayCloser(): void;
}

export interface ThinkFilter {
  push(text: string): void;
  /** What is still held is decided by what has arrived. */
  end(): void;
}

/** Held at the beginning of a reply that may begin inside a block. */
const LONGEST_START = 32 * 1024;
/** Held behind `<tool_call>`. Beyond that it is text. */
const LONGEST_CALL = 4 * 1024 * 1024;

type State =
  | { readonly in: "text" }
  /** `held` is what came behind a closer of another name: the answer, if its own never comes. */
  | { readonly in: "reasoning"; readonly until: ThinkName | "late closer" | "marker"; held?: string }
  /** Held until it is known whether the reply began inside a block. */
  | { readonly in: "start"; held: string; isBlank: boolean }
  /** Held until it is known whether it is one. */
  | { readonly in: "call"; readonly opener: string; readonly json: JsonTracker; held: string };

type In<Name extends State["in"]> = Extract<State, { readonly in: Name }>;

/** A tag, or text up to where the next one may begin. */
interface Piece {
  readonly tag?: Tag;
  /** The index behind it in the buffer. */
  readonly end: number;
}

const TEXT: State = { in: "text" };

export function createThinkFilter({
  sink,
  startsInside = false,
  toolCalls = false,
}: {
  sink: ThinkSink;
  /** The prompt ended in an opener, so that the reply may begin inside its block. */
  startsInside?: boolean;
  /** `<tool_call>` is a call, and not text. */
  toolCalls?: boolean;
}): ThinkFilter {
  const code = createCodeTracker();
  let state: State = startsInside ? { in: "start", held: "", isBlank: true } : TEXT;
  let buffer = "";
  let at = 0;
  /** What was taken last. */
  let previous = "";
  let ended = false;
  /** Nothing visible has been said. */
  let atStart = true;
  /** A block stood at the start. */
  let beganWithBlock = false;
  let isBehindBlock = false;
  let hasMention = false;
  let takesCalls = toolCalls;

  /** White space between a block at the start and the text is dropped. */
  function say(raw: string): void {
    const visible = atStart ? raw.trimStart() : raw;
    const text = atStart && beganWithBlock ? visible : raw;
    if (text !== "") sink.text(text);
    atStart &&= visible === "";
    isBehindBlock &&= raw.trim() === "";
    code.pass(raw);
  }

  /** What comes now is visible again. */
  function leaveBlock(): void {
    beganWithBlock ||= atStart;
    isBehindBlock = true;
    state = TEXT;
  }

  function take(end: number): string {
    previous = buffer.slice(at, end);
    at = end;
    return previous;
  }

  /** What was held is looked at again, as text. */
  function unread(held: string): void {
    buffer = held + buffer.slice(at);
    at = 0;
    state = TEXT;
  }

  /** What comes next, unless more must come first to tell. */
  function peek(): Piece | undefined {
    if (at === buffer.length) return undefined;
    const start = buffer.indexOf("<", at);
    if (start !== at) return { end: start === -1 ? buffer.length : start };
    const isFirst = state.in === "text" ? atStart : state.in === "start" && state.isBlank;
    const found = readTag(buffer, at, { ended, atStart: isFirst });
    if (found === "partial") return undefined;
    if (found === undefined) return { end: at + 1 };
    if (state.in === "text" || !previous.endsWith("`")) return found;
    // Directly between backticks it is a mention in what is thought.
    if (found.end === buffer.length && !ended) return undefined;
    return buffer.charAt(found.end) === "`" ? { end: found.end } : found;
  }

  function judge(tag: Tag, end: number): Verdict {
    const text = buffer.slice(end, end + FARTHEST);
    const behind = { text, isOpen: !ended && text.length < FARTHEST };
    return judgeTag(
      tag,
      { code, atStart, before: previous.slice(-1), isBehindBlock, hasMention, takesCalls },
      behind,
    );
  }

  /** False if more must come first. */
  function onText({ tag, end }: Piece): boolean {
    const verdict = tag ? judge(tag, end) : "text";
    if (verdict === "wait") return false;
    const raw = take(end);
    if (verdict === "reasoning") state = { in: verdict, until: tag?.kind === "open" ? tag.name : "marker" };
    else if (verdict === "call") state = { in: verdict, opener: raw, json: createJsonTracker(), held: "" };
    else if (verdict === "drop") {
      if (tag?.kind === "close" && !atStart) sink.strayCloser();
      leaveBlock();
    } else {
      hasMention ||= verdict === "mention";
      say(raw);
    }
    return true;
  }

  function onReasoning(thought: In<"reasoning">, { tag, end }: Piece): void {
    const { until } = thought;
    const raw = take(end);
    const isOwn = until === "late closer" || (tag?.kind === "close" && tag.name === until);
    if (until === "marker" ? tag?.kind === "marker" : tag?.kind === "close" && isOwn) {
      if (thought.held !== undefined) sink.reasoning(thought.held);
      if (until === "late closer") sink.strayCloser();
      leaveBlock();
      return;
    }
    if (thought.held === undefined && tag?.kind !== "close") {
      sink.reasoning(raw);
      return;
    }
    thought.held = (thought.held ?? "") + raw;
    if (thought.held.length <= LONGEST_START) return;
    sink.reasoning(thought.held);
    delete thought.held;
  }

  function onStart(start: In<"start">, { tag, end }: Piece): void {
    if (start.isBlank && tag && tag.kind !== "close" && tag.kind !== "closeCall") {
      // It says by itself where it begins.
      unread(start.held);
      return;
    }
    const raw = take(end);
    if (tag?.kind === "close") {
      sink.strayCloser();
      sink.reasoning(start.held);
      leaveBlock();
      return;
    }
    start.held += raw;
    start.isBlank &&= raw.trim() === "";
    if (start.held.length <= LONGEST_START) return;
    sink.reasoning(start.held);
    state = { in: "reasoning", until: "late closer" };
  }

  function onCall(call: In<"call">, { tag, end }: Piece): void {
    const raw = take(end);
    if (tag?.kind === "closeCall" && !call.json.inString) {
      if (!endCall(call, raw)) say(call.opener + call.held + raw);
      return;
    }
    call.held += raw;
    call.json.pass(raw);
    if (call.held.length > LONGEST_CALL) dropCall(call);
  }

  /** False if it was none. */
  function endCall({ opener, held }: In<"call">, closer = ""): boolean {
    const calls = parseTextCalls(held);
    state = TEXT;
    isBehindBlock = calls !== undefined;
    if (calls) sink.calls(calls, opener + held + closer);
    return calls !== undefined;
  }

  /** There is no closer for this one, nor for any behind it, which would be held in vain. */
  function dropCall({ opener, held }: In<"call">): void {
    takesCalls = false;
    say(opener);
    unread(held);
  }

  function drain(): void {
    for (let piece = peek(); piece !== undefined; piece = peek()) {
      if (state.in === "reasoning") onReasoning(state, piece);
      else if (state.in === "start") onStart(state, piece);
      else if (state.in === "call") onCall(state, piece);
      else if (!onText(piece)) return;
    }
  }

  return {
    push(text) {
      buffer = buffer.slice(at) + text;
      at = 0;
      drain();
    },
    end() {
      ended = true;
      drain();
      if (state.in === "reasoning" && state.held !== undefined) {
        const answer = state.held.replace(/^<\/\w+>/, "");
        leaveBlock();
        say(answer);
      }
      while (state.in === "start" || state.in === "call") {
        const open = state;
        if (open.in === "start") unread(open.held);
        else if (!endCall(open)) dropCall(open);
        drain();
      }
    },
  };
}

/**
 * Tells what a model says from what it only thinks, and from the calls it writes as text, while its reply
 * streams by.
 *
 * A block of `<think>`, `<thinking>` or `<thought>` is reasoning, and so is what stands behind an opener that
 * is never closed, unless the opener is merely mentioned: in code, or in the middle of a line with white
 * space or punctuation behind it. What a tag is can depend on what comes later; until then the text behind
 * it is held back, up to the bounds below. The outcome does not depend on how the text is cut.
 */

import { createJsonTracker } from "./json-tracker.ts";
import { followsMention, isConnector, LONGEST_CONNECTOR } from "./mentions.ts";
import { createReplyScanner, type TagToken, type Token } from "./reply-scanner.ts";
import { createSegments, type Segment } from "./reply-segments.ts";
import type { ThinkName } from "./reply-tags.ts";
import {
  type Call,
  closes,
  type Edge,
  type Opened,
  type Reasoning,
  rawOf,
  type Start,
  type State,
  TEXT,
} from "./think-states.ts";

export interface ThinkFilter {
  push(text: string): readonly Segment[];
  /** The rest. What is still held is decided by what has arrived. */
  end(): readonly Segment[];
  /** A closer without an opener was left out: the model's replies may begin inside a block. */
  readonly sawOrphanClose: boolean;
}

/** Held behind an opener that may be a mention. Beyond that it is one. */
const LONGEST_MENTION = 64 * 1024;
/** Held at the beginning of a reply that may begin inside a block. Beyond that it does. */
const LONGEST_START = 256 * 1024;
/** Held behind `<tool_call>`. Beyond that it is text. */
const LONGEST_CALL = 4 * 1024 * 1024;
/** Blanks and tags held behind a stray tag. Beyond that the tag is text. */
const LONGEST_EDGE = 4096;

const BLANKS = /^[ \t\r]*/;

export function createThinkFilter({
  startsInside = false,
  toolCalls = false,
}: {
  /** The prompt ended in an opener, so that the reply may begin inside its block. */
  startsInside?: boolean;
  /** `<tool_call>` is a call, and not text. */
  toolCalls?: boolean;
} = {}): ThinkFilter {
  const scanner = createReplyScanner({ toolCalls });
  const segments = createSegments();
  const { say, think, endBlock } = segments;
  let state: State = startsInside ? { in: "start", held: "", isBlank: true, isExample: false } : TEXT;
  /** Openers in the middle of a line have turned out to be mentions. */
  let areMentions = false;
  let trustsCalls = true;
  let trustsStrings = true;
  let sawOrphanClose = false;

  function sayAs(text: string): State {
    say(text);
    return TEXT;
  }

  function afterBlock(): State {
    endBlock();
    return TEXT;
  }

  function startReasoning(ends: Reasoning["ends"]): State {
    scanner.startHidden();
    return { in: "reasoning", ends, isExample: false };
  }

  function startCall(opener: string): State {
    scanner.startHidden();
    return { in: "call", opener, held: "", examples: 0, json: createJsonTracker() };
  }

  function onText(token: Token): State {
    if (token.type === "text" || token.inCode) return sayAs(token.raw);
    const { tag, raw } = token;
    switch (tag.kind) {
      case "open":
        if (segments.atStart || token.ownLine) return startReasoning(tag.name);
        return areMentions ? sayAs(raw) : openAt(token, tag.name);
      case "analysis":
        return segments.atStart ? startReasoning("marker") : sayAs(raw);
      case "openCall":
        return trustsCalls ? startCall(raw) : sayAs(raw);
      case "closeCall":
        return sayAs(raw);
      default:
        return onStray(raw, tag.kind === "close");
    }
  }

  function openAt(opener: TagToken, name: ThinkName): State {
    return { in: "opened", opener, name, tokens: [], length: 0, mayBeMention: true, isExample: false };
  }

  /** A tag that vanishes at the edges of the text and before the end of a line. */
  function onStray(raw: string, isCloser: boolean): State {
    if (!segments.atStart) return { in: "edge", whole: raw, bare: "", hasCloser: isCloser };
    sawOrphanClose ||= isCloser;
    return afterBlock();
  }

  function endEdge({ whole, bare, hasCloser }: Edge, { vanishes }: { vanishes: boolean }): State {
    sawOrphanClose ||= vanishes && hasCloser;
    return sayAs(vanishes ? bare : whole);
  }

  function onEdge(edge: Edge, token: Token): State {
    if (token.type === "tag") {
      const { kind } = token.tag;
      if (!token.inCode && (kind === "close" || kind === "selfClosing" || kind === "marker")) {
        edge.whole += token.raw;
        edge.hasCloser ||= kind === "close";
        return edge.whole.length > LONGEST_EDGE ? endEdge(edge, { vanishes: false }) : edge;
      }
      // A block or a call ends the text as much as a line's end does.
      endEdge(edge, { vanishes: !token.inCode && (kind === "open" || kind === "openCall") });
      return onText(token);
    }
    const blanks = BLANKS.exec(token.raw)?.[0] ?? "";
    const rest = token.raw.slice(blanks.length);
    edge.whole += blanks;
    edge.bare += blanks;
    const isTooLong = edge.whole.length > LONGEST_EDGE;
    if (rest === "" && !isTooLong) return edge;
    endEdge(edge, { vanishes: rest.startsWith("\n") && !isTooLong });
    return sayAs(rest);
  }

  function onReasoning(block: Reasoning, token: Token): State {
    if (token.type === "tag" && !token.quoted) {
      const { kind } = token.tag;
      if (block.ends !== "marker") {
        if (closes(block, token, block.ends)) return afterBlock();
      } else if (kind === "marker" || kind === "analysis") {
        endBlock();
        return onText({ ...token, inCode: false });
      }
    }
    think(token.raw);
    return block;
  }

  function onStart(start: Start, token: Token): State {
    if (token.type === "tag" && !token.quoted) {
      const { kind } = token.tag;
      // It says by itself where it begins.
      if (start.isBlank && kind !== "close" && kind !== "closeCall") {
        say(start.held);
        return onText(token);
      }
      if (closes(start, token, "any")) {
        think(start.held);
        return afterBlock();
      }
    }
    start.held += token.raw;
    start.isBlank &&= token.raw.trim() === "";
    if (start.held.length <= LONGEST_START) return start;
    think(start.held);
    return { in: "reasoning", ends: "any", isExample: start.isExample };
  }

  /** What follows the opener is said, and the openers in it are no more than this one was. */
  function mention({ opener, tokens }: Opened): State {
    areMentions = true;
    let next = sayAs(opener.raw);
    for (const token of tokens) next = step(next, token);
    areMentions = false;
    return next;
  }

  function onOpened(opened: Opened, token: Token): State {
    if (token.type === "tag" && closes(opened, token, opened.name)) return closeOpened(opened, token);
    const isFirst = opened.tokens.length === 0;
    if (isFirst) opened.mayBeMention = followsMention(token.raw) && !/^[\r\n]/.test(token.raw);
    const isBlock = token.type === "tag" && token.tag.kind === "open" && token.ownLine && !token.inCode;
    if (opened.mayBeMention && isBlock) return step(mention(opened), token);
    opened.tokens.push(token);
    opened.length += token.raw.length;
    if (opened.mayBeMention) return opened.length > LONGEST_MENTION ? mention(opened) : opened;
    if (opened.length <= LONGEST_CONNECTOR) return opened;
    scanner.unread(rawOf(opened));
    scanner.leaveCode();
    return startReasoning(opened.name);
  }

  function closeOpened(opened: Opened, closer: TagToken): State {
    const inside = rawOf(opened);
    if (isConnector(inside)) {
      mention(opened);
      return sayAs(closer.raw);
    }
    think(inside);
    scanner.leaveCode();
    return afterBlock();
  }

  function onCall(call: Call, token: Token): State {
    const kind = token.type === "tag" ? token.tag.kind : "";
    if (kind === "closeCall" && !(trustsStrings && call.json.inString)) {
      segments.call(call.held);
      return TEXT;
    }
    const start = call.held.length;
    call.held += token.raw;
    call.json.pass(token.raw);
    if (kind === "openCall") call.examples++;
    else if (kind === "closeCall") {
      if (call.examples > 0) call.examples--;
      else call.closer ??= { start, end: call.held.length };
    }
    const isNext = kind === "openCall" && call.closer !== undefined;
    return isNext || call.held.length > LONGEST_CALL ? endCall(call) : call;
  }

  /** No closer came, or none that is not part of a string. */
  function endCall({ opener, held, closer }: Call): State {
    if (closer !== undefined) {
      // The quotes do not pair, so they say nothing about the calls to come either.
      trustsStrings = false;
      segments.call(held.slice(0, closer.start));
      scanner.unread(held.slice(closer.end));
    } else if (isJson(held)) segments.call(held);
    else {
      trustsCalls = false;
      say(opener);
      scanner.unread(held);
    }
    return TEXT;
  }

  function step(current: State, token: Token): State {
    switch (current.in) {
      case "text":
        return onText(token);
      case "reasoning":
        return onReasoning(current, token);
      case "opened":
        return onOpened(current, token);
      case "start":
        return onStart(current, token);
      case "edge":
        return onEdge(current, token);
      case "call":
        return onCall(current, token);
    }
  }

  function nextToken(): Token | undefined {
    switch (state.in) {
      case "start":
        return scanner.nextHidden({ atStart: state.isBlank });
      case "reasoning":
      case "call":
        return scanner.nextHidden({ atStart: false });
      default:
        return scanner.next({ atStart: state.in === "text" && segments.atStart });
    }
  }

  function drain(): void {
    for (let token = nextToken(); token !== undefined; token = nextToken()) state = step(state, token);
  }

  /** Where an open state leads if nothing more comes. */
  function settle(open: State): State {
    switch (open.in) {
      case "edge":
        return endEdge(open, { vanishes: true });
      case "opened":
        if (open.mayBeMention) return mention(open);
        think(rawOf(open));
        return afterBlock();
      case "start":
        scanner.unread(open.held);
        return TEXT;
      case "call":
        return endCall(open);
      default:
        return TEXT;
    }
  }

  return {
    push(text) {
      scanner.push(text);
      drain();
      return segments.take();
    },
    end() {
      scanner.end();
      drain();
      while (state !== TEXT) {
        state = settle(state);
        drain();
      }
      return segments.take();
    },
    get sawOrphanClose() {
      return sawOrphanClose;
    },
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // That is the answer.
  }
}

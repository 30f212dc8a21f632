/** One turn as it is read from a file: what was said in it whole, as long as that is of a sensible size. */

import type { StoredMessage, StoredToolCall } from "../core/session.ts";
import { leftOutCharacters } from "../lib/phrases.ts";
import { messageTokens } from "../lib/request-tokens.ts";
import { headTail } from "../lib/text.ts";
import { toChat } from "../lib/transcript.ts";

/** Characters that stay of each result of a tool, of everything else that was said, and of each call's arguments. */
interface Measure {
  readonly result: number;
  readonly text: number;
  readonly arguments: number;
}

/**
 * Tried in turn, until the turn fits; the first holds in any case. Of a result it matters what it came to: counted
 * whole, a conversation with many of them would be asked about many times, for a few words each.
 */
const MEASURES: readonly [Measure, ...Measure[]] = [
  { result: 1_000, text: Number.POSITIVE_INFINITY, arguments: 1_000 },
  { result: 1_000, text: 16_000, arguments: 1_000 },
  { result: 300, text: 4_000, arguments: 100 },
  { result: 100, text: 1_000, arguments: 0 },
  { result: 100, text: 200, arguments: 0 },
];

export interface BoundedTurn {
  readonly messages: readonly StoredMessage[];
  readonly tokens: number;
  add(message: StoredMessage): void;
}

/** When nothing else helps, what came between the first message and the newest ones goes. */
export function createBoundedTurn(maxTokens: number): BoundedTurn {
  let messages: StoredMessage[] = [];
  let tokens = 0;
  let level = 0;

  const shortened = (message: StoredMessage) => shorten(message, MEASURES[level] ?? MEASURES[0]);

  function fit(): void {
    while (tokens > maxTokens && level < MEASURES.length - 1) {
      level++;
      messages = messages.map(shortened);
      tokens = messages.reduce((sum, message) => sum + tokensOf(message), 0);
    }
    let surplus = 0;
    while (tokens > maxTokens && surplus < messages.length - 2) {
      surplus++;
      tokens -= tokensOf(messages[surplus] as StoredMessage);
    }
    if (surplus > 0) messages.splice(1, surplus);
  }

  return {
    get messages() {
      return messages;
    },
    get tokens() {
      return tokens;
    },
    add(message) {
      const added = shortened(message);
      messages.push(added);
      tokens += tokensOf(added);
      if (tokens > maxTokens) fit();
    },
  };
}

function tokensOf(message: StoredMessage): number {
  return messageTokens(toChat(message));
}

/** What a message counts for in a turn that fits as it is. */
export function saidTokens(message: StoredMessage): number {
  return tokensOf(shorten(message, MEASURES[0]));
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : headTail(text, Math.max(most, 100), leftOutCharacters);
}

function shortCall(call: StoredToolCall, most: number): StoredToolCall {
  const { id, type, function: called } = call;
  const isShort = called.arguments.length <= most && call.extra_content === undefined;
  return isShort ? call : { id, type, function: { name: called.name, arguments: "{}" } };
}

/** What a model only thought is no part of what was said, nor is what we put in front of it. */
function shorten(message: StoredMessage, measure: Measure): StoredMessage {
  const {
    reasoning_content: _thought,
    thinking_blocks: _blocks,
    runtime: _runtime,
    tool_calls: calls,
    ...rest
  } = message;
  return {
    ...rest,
    content: cut(message.content, message.role === "tool" ? measure.result : measure.text),
    ...(calls === undefined ? {} : { tool_calls: calls.map((call) => shortCall(call, measure.arguments)) }),
  };
}

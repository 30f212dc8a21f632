/** One turn as it is read from a file: whole as long as it is of a sensible size, and shortened where it is not. */

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

/** Tried in turn, until the turn fits. */
const MEASURES: readonly Measure[] = [
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
  let level = -1;

  function shortened(message: StoredMessage): StoredMessage {
    const measure = MEASURES[level];
    return measure === undefined ? message : shorten(message, measure);
  }

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

function cut(text: string, most: number): string {
  return text.length <= most ? text : headTail(text, Math.max(most, 100), leftOutCharacters);
}

function shortCall(call: StoredToolCall, most: number): StoredToolCall {
  const { id, type, function: called } = call;
  const isShort = called.arguments.length <= most && call.extra_content === undefined;
  return isShort ? call : { id, type, function: { name: called.name, arguments: "{}" } };
}

/** What a model only thought is no part of what was said, and goes first. */
function shorten(message: StoredMessage, measure: Measure): StoredMessage {
  const { reasoning_content: _thought, thinking_blocks: _blocks, tool_calls: calls, ...rest } = message;
  return {
    ...rest,
    content: cut(message.content, message.role === "tool" ? measure.result : measure.text),
    ...(calls === undefined ? {} : { tool_calls: calls.map((call) => shortCall(call, measure.arguments)) }),
  };
}

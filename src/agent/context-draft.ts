/** What a run sends to the model in the place of its messages, and the ways to make that shorter. */

import type { AssistantMessage, ChatMessage, Image, ToolMessage } from "../core/model.ts";
import { isResultWorthLeavingOut, isWorthLeavingOut, withoutResult } from "../lib/left-out.ts";
import { imagesOf } from "../lib/message-images.ts";
import { leftOutCharacters } from "../lib/phrases.ts";
import { messagesTokens, messageTokens } from "../lib/request-tokens.ts";
import { headTail } from "../lib/text.ts";
import { surplusGroups } from "./image-bounds.ts";
import { showImages } from "./result-images.ts";

/** What is sent in the place of the messages, as far as it differs from them. */
interface Draft {
  /** Of the messages it was last made of. */
  readonly tokens: number;
  of(messages: readonly ChatMessage[]): readonly ChatMessage[];
  isKept(message: ChatMessage): boolean;
  /** As it is sent. */
  now(message: ChatMessage): ChatMessage;
  replace(message: ChatMessage, by: ChatMessage): void;
  drop(message: ChatMessage): void;
}

export function createDraft(): Draft {
  const replaced = new Map<ChatMessage, ChatMessage>();
  const dropped = new Set<ChatMessage>();
  let tokens = 0;
  const isKept = (message: ChatMessage) => !dropped.has(message);
  const now = (message: ChatMessage) => replaced.get(message) ?? message;
  return {
    isKept,
    now,
    get tokens() {
      return tokens;
    },
    of(messages) {
      const sent = messages.filter(isKept).map(now);
      tokens = messagesTokens(sent);
      return sent;
    },
    replace(message, by) {
      tokens += messageTokens(by) - messageTokens(now(message));
      replaced.set(message, by);
    },
    drop(message) {
      tokens -= messageTokens(now(message));
      dropped.add(message);
    },
  };
}

export function leaveOutResults(draft: Draft, messages: readonly ChatMessage[], most: number): void {
  for (const message of messages) {
    if (draft.tokens <= most) return;
    const current = draft.now(message);
    if (draft.isKept(message) && isResult(message) && isResult(current) && isResultWorthLeavingOut(current))
      draft.replace(message, withoutResult(message));
  }
}

/** Says whether there were any. */
export function leaveOutSurplusImages(draft: Draft, messages: readonly ChatMessage[]): boolean {
  const pictured = messages.filter(
    (message) => draft.isKept(message) && imagesOf(draft.now(message)).length > 0,
  );
  const groups = pictured.map((message) => {
    const images = imagesOf(draft.now(message));
    return { images: images.length, chars: images.reduce((sum, { data }) => sum + data.length, 0) };
  });
  const surplus = pictured.slice(0, surplusGroups(groups));
  for (const message of surplus) draft.replace(message, withoutImages(draft.now(message)));
  return surplus.length > 0;
}

export function leaveOutImages(draft: Draft, messages: readonly ChatMessage[], most: number): void {
  for (const message of messages) {
    if (draft.tokens <= most) return;
    const current = draft.now(message);
    if (draft.isKept(message) && imagesOf(current).length > 0) draft.replace(message, withoutImages(current));
  }
}

export function moveToLaterTurn(draft: Draft, messages: readonly ChatMessage[], most: number): void {
  for (const turn of earlierTurns(messages)) {
    if (draft.tokens <= most) return;
    turn.filter(draft.isKept).forEach(draft.drop);
  }
}

export function leaveOutArguments(draft: Draft, messages: readonly ChatMessage[], most: number): void {
  for (const message of messages) {
    if (draft.tokens <= most) return;
    const current = draft.now(message);
    if (draft.isKept(message) && hasLongArguments(current)) draft.replace(message, withoutArguments(current));
  }
}

/** Long ones first: none may be longer than the others may be. */
export function shortenResults(
  draft: Draft,
  messages: readonly ChatMessage[],
  { budget, least }: { budget: number; least: number },
): void {
  const results = messages.filter(draft.isKept).filter(isResult);
  const lengthOf = (result: ToolMessage) => draft.now(result).content.length;
  let most = results.reduce((longest, result) => Math.max(longest, lengthOf(result)), 0);
  while (draft.tokens > budget && most > least) {
    most = Math.max(least, Math.floor(most * 0.75));
    for (const result of results)
      if (lengthOf(result) > most)
        draft.replace(result, shortened(result, imagesOf(draft.now(result)), most));
  }
}

function isResult(message: ChatMessage): message is ToolMessage {
  return message.role === "tool";
}

/** With those of its images that are still `shown`. */
function shortened(message: ToolMessage, shown: readonly Image[], most: number): ToolMessage {
  const content = headTail(message.content, most, leftOutCharacters);
  return showImages({ ...message, content }, namesOf(imagesOf(message)), shown);
}

function namesOf(images: readonly Image[]): readonly string[] {
  return images.map(({ name }) => name);
}

/** A user's message has their names in its text already. */
function withoutImages(message: ChatMessage): ChatMessage {
  if (message.role === "tool") return showImages(message, namesOf(imagesOf(message)), []);
  if (message.role !== "user") return message;
  const { images: _, ...rest } = message;
  return rest;
}

function hasLongArguments(message: ChatMessage): message is AssistantMessage {
  return (
    message.role === "assistant" &&
    (message.toolCalls ?? []).some((call) => isWorthLeavingOut(call.arguments))
  );
}

function withoutArguments(message: AssistantMessage): AssistantMessage {
  const toolCalls = (message.toolCalls ?? []).map((call) =>
    isWorthLeavingOut(call.arguments)
      ? { ...call, arguments: JSON.stringify({ left_out: `${call.arguments.length} characters` }) }
      : call,
  );
  return { ...message, toolCalls };
}

/** The turns before the last one, oldest first, each beginning at a user message. */
function* earlierTurns(messages: readonly ChatMessage[]): Generator<readonly ChatMessage[]> {
  const end = messages.findLastIndex(({ role }) => role === "user");
  let turn: ChatMessage[] = [];
  for (const message of messages.slice(0, Math.max(0, end))) {
    if (message.role === "system") continue;
    if (message.role === "user" && turn.length > 0) {
      yield turn;
      turn = [];
    }
    turn.push(message);
  }
  if (turn.length > 0) yield turn;
}

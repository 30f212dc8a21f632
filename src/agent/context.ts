/** Keeps what one run sends to the model within its budget: the session is not touched, only the copy that is sent. */

import type { AssistantMessage, ChatMessage, Image, TokenScale, ToolMessage } from "../core/model.ts";
import { isResultWorthLeavingOut, isWorthLeavingOut, withoutResult } from "../lib/left-out.ts";
import { imagesOf } from "../lib/message-images.ts";
import { leftOutCharacters, leftOutSteps } from "../lib/phrases.ts";
import { messagesTokens, messageTokens } from "../lib/request-tokens.ts";
import { headTail } from "../lib/text.ts";
import { surplusGroups } from "./image-bounds.ts";
import { showImages } from "./result-images.ts";

/** When something old must go, more than needed goes, so that the prefix stays the same for some rounds. */
const TARGET = 0.85;
/** What is left of a prompt that a stand-in refused as too long. */
const AFTER_REFUSAL = 0.7;
/** What stays of a result the model is just waiting for: so much if possible, and the least. */
const SOME_RESULT_CHARS = 1_000;
const LEAST_RESULT_CHARS = 100;
/** What the note about left out steps takes. */
const NOTE_TOKENS = 30;

export interface Context {
  /** `messages`, or a copy that fits. The end is never left out, nor the system prompt. */
  fit(messages: readonly ChatMessage[]): readonly ChatMessage[];
  /**
   * `sent` was refused as too long: by the model itself, or, `byAnother`, by one that stood in for it, which
   * says nothing of later turns. Says whether `fit` will give less of it from now on.
   */
  refused(
    messages: readonly ChatMessage[],
    sent: readonly ChatMessage[],
    options: { byAnother: boolean },
  ): boolean;
}

interface ContextOptions {
  /** The model's own tokens that messages and tools may have. */
  readonly promptTokens: number;
  /** By our estimate. */
  readonly toolTokens: number;
  readonly scale: TokenScale;
}

/** What fits beside the tools, by our estimate. Settings that leave no room at all still get a short message through. */
export function messageBudget({ promptTokens, toolTokens, scale }: ContextOptions): number {
  const fitting = scale.fit(promptTokens);
  const left = fitting - toolTokens;
  return Math.max(128, left > 0 ? left : Math.floor(fitting / 2));
}

/**
 * In order, until it fits: old tool results are left out, then the conversation begins at a later message
 * of the user, then long arguments of old calls are left out, then the oldest steps since the user's last
 * message, and at last the step that has just come is shortened. What was left out once stays so. Images
 * that are more than a request takes go first, whatever the budget.
 */
export function createContext(options: ContextOptions): Context {
  const draft = createDraft();
  /** For this run alone. */
  let ceiling = Number.POSITIVE_INFINITY;
  /** Left out behind a message of the user. */
  const stepsBehind = new Map<ChatMessage, number>();

  function shrink(messages: readonly ChatMessage[], budget: number): void {
    const target = budget * TARGET;
    const end = Math.max(
      0,
      messages.findLastIndex(({ role }) => role === "assistant"),
    );
    const old = messages.slice(0, end);
    const newest = messages.slice(end);
    const ways = [
      () => leaveOutResults(draft, old, target),
      () => moveToLaterTurn(draft, messages, target),
      () => leaveOutArguments(draft, old, target),
      () => leaveOutSteps(messages, end, target),
      // Of what the model has not seen yet no more goes than must.
      () => shortenResults(draft, newest, { budget, least: SOME_RESULT_CHARS }),
      () => leaveOutArguments(draft, newest, budget),
      () => leaveOutImages(draft, newest, budget),
      () => shortenResults(draft, newest, { budget, least: LEAST_RESULT_CHARS }),
    ];
    for (const way of ways) {
      if (draft.tokens <= budget) return;
      way();
    }
  }

  function leaveOutSteps(messages: readonly ChatMessage[], end: number, most: number): void {
    const user = messages.findLast(({ role }) => role === "user");
    if (user === undefined) return;
    const before = stepsBehind.get(user) ?? 0;
    let steps = before;
    const room = most - (before === 0 ? NOTE_TOKENS : 0);
    for (const step of earlierSteps(messages, end)) {
      if (draft.tokens <= room) break;
      if (!step.some(draft.isKept)) continue;
      step.forEach(draft.drop);
      steps++;
    }
    if (steps === before) return;
    stepsBehind.set(user, steps);
    draft.replace(user, { ...draft.now(user), content: `${user.content}\n\n${leftOutSteps(steps)}` });
  }

  function fit(messages: readonly ChatMessage[]): readonly ChatMessage[] {
    const budget = Math.min(messageBudget(options), ceiling);
    const before = draft.of(messages);
    const isTooMuch = leaveOutSurplusImages(draft, messages);
    if (draft.tokens <= budget) return isTooMuch ? draft.of(messages) : before;
    shrink(messages, budget);
    return draft.of(messages);
  }

  return {
    fit,
    refused(messages, sent, { byAnother }) {
      const before = messagesTokens(sent);
      if (byAnother) ceiling = Math.min(ceiling, Math.floor(before * AFTER_REFUSAL));
      else options.scale.refused(before + options.toolTokens);
      return messagesTokens(fit(messages)) < before;
    },
  };
}

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

function createDraft(): Draft {
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

function leaveOutResults(draft: Draft, messages: readonly ChatMessage[], most: number): void {
  for (const message of messages) {
    if (draft.tokens <= most) return;
    const current = draft.now(message);
    if (draft.isKept(message) && isResult(message) && isResult(current) && isResultWorthLeavingOut(current))
      draft.replace(message, withoutResult(message));
  }
}

/** Says whether there were any. */
function leaveOutSurplusImages(draft: Draft, messages: readonly ChatMessage[]): boolean {
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

function leaveOutImages(draft: Draft, messages: readonly ChatMessage[], most: number): void {
  for (const message of messages) {
    if (draft.tokens <= most) return;
    const current = draft.now(message);
    if (draft.isKept(message) && imagesOf(current).length > 0) draft.replace(message, withoutImages(current));
  }
}

function moveToLaterTurn(draft: Draft, messages: readonly ChatMessage[], most: number): void {
  for (const turn of earlierTurns(messages)) {
    if (draft.tokens <= most) return;
    turn.filter(draft.isKept).forEach(draft.drop);
  }
}

function leaveOutArguments(draft: Draft, messages: readonly ChatMessage[], most: number): void {
  for (const message of messages) {
    if (draft.tokens <= most) return;
    const current = draft.now(message);
    if (draft.isKept(message) && hasLongArguments(current)) draft.replace(message, withoutArguments(current));
  }
}

/** Long ones first: none may be longer than the others may be. */
function shortenResults(
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

/** The replies with their results since the user's last message, oldest first, up to `end`. */
function* earlierSteps(messages: readonly ChatMessage[], end: number): Generator<readonly ChatMessage[]> {
  const start = messages.findLastIndex(({ role }) => role === "user");
  let step: ChatMessage[] = [];
  for (const message of messages.slice(start + 1, Math.max(start + 1, end))) {
    if (message.role === "assistant" && step.length > 0) {
      yield step;
      step = [];
    }
    step.push(message);
  }
  if (step.length > 0) yield step;
}

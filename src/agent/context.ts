/** Keeps what one run sends to the model within its budget: the session is not touched, only the copy that is sent. */

import type { ChatMessage, TokenScale } from "../core/model.ts";
import { leftOutSteps } from "../lib/phrases.ts";
import { messagesTokens } from "../lib/request-tokens.ts";
import {
  createDraft,
  leaveOutArguments,
  leaveOutImages,
  leaveOutResults,
  leaveOutSurplusImages,
  moveToLaterTurn,
  shortenResults,
} from "./context-draft.ts";

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

/**
 * The loop: ask the model, run the tools it calls, ask again, until it answers. A function of its inputs
 * that keeps nothing between calls and knows nothing of sessions, channels or files.
 */

import type { Emit, RunEvent, RunResult } from "../core/events.ts";
import type { InboundId } from "../core/messages.ts";
import type {
  AssistantMessage,
  ChatAnswer,
  ChatDelta,
  ChatMessage,
  ChatReply,
  ChatRequest,
  Model,
  TokenScale,
} from "../core/model.ts";
import type { ToolRun } from "../core/tool-run.ts";
import type { Toolbox } from "../core/toolbox.ts";
import { ASK_AGAIN_AFTER_BLANK, askForSummary, BLANK_TWICE, outOfRounds, stuck } from "../lib/phrases.ts";
import { toolTokens } from "../lib/request-tokens.ts";
import { oneLine } from "../lib/text.ts";
import { failedBecause } from "../lib/tool-failure.ts";
import { callId } from "./call-id.ts";
import { createContext } from "./context.ts";
import { acceptableCall, type CallResult, inOrder, runCalls } from "./run-calls.ts";

/** The same call with the same arguments may fail this often before the run ends. */
const SAME_CALL_FAILURES = 3;
/** And the same tool in the same way with other arguments. */
const SAME_ERROR_FAILURES = 6;

export interface LoopInput {
  readonly turn: InboundId;
  /** A valid transcript that ends with what the model should react to. */
  readonly messages: readonly ChatMessage[];
  readonly request: Omit<ChatRequest, "messages" | "tools" | "toolChoice">;
  readonly maxRounds: number;
  /** Of them are behind the run already, when it goes on from where another was cut off. */
  readonly roundsBehind?: number;
  /** The most tokens of a prompt, tools included, in the model's own count. */
  readonly promptTokens: number;
}

export interface LoopDeps {
  readonly model: Model;
  readonly scale: TokenScale;
  readonly tools: Toolbox;
  readonly run: ToolRun;
  /**
   * Takes in what the user has said meanwhile. Called after tools ran, as long as it can still be acted upon. A rejection
   * ends the run with it. Omitted where nobody can say anything.
   */
  readonly joining?: () => Promise<readonly ChatMessage[]>;
  /** Awaited. A rejection ends the run with it. */
  readonly emit: Emit;
}

/** Rejects only when `emit` or `joining` does. Every call that was announced gets its result first, also after an abort. */
export async function runLoop(input: LoopInput, deps: LoopDeps): Promise<RunResult> {
  const { tools, run } = deps;
  const { signal } = run;
  const messages = [...input.messages];
  const emit = inOrder(deps.emit);
  const failures = createFailureCount();
  const { definitions } = tools;
  const context = createContext({
    promptTokens: input.promptTokens,
    toolTokens: toolTokens(definitions),
    scale: deps.scale,
  });

  for (let round = input.roundsBehind ?? 0; round < input.maxRounds; round++) {
    if (round > 0) messages.push(...((await deps.joining?.()) ?? []));
    const reply = await ask(round, messages, "auto");
    if (!reply.ok) return endedBy(reply, signal);
    if (reply.toolCalls.length === 0)
      return reply.content.trim() ? answered(reply) : askAgain(round, messages);

    const calls = reply.toolCalls.map((call, index) => ({ ...call, id: callId(input.turn, round, index) }));
    const message = { ...assistantMessage(reply), toolCalls: calls.map(acceptableCall) };
    const readOnly = calls.every(({ name }) => tools.isReadOnly(name));
    await emit({ type: "assistant.calls", message, readOnly });
    const results = await runCalls(calls, { tools, run, emit });
    messages.push(message, ...results.map((result) => result.message));
    if (signal.aborted) return { status: "aborted", reason: signal.reason };
    const failed = results.filter(({ ok }) => !ok);
    for (const failure of failed) {
      const times = failures.count(failure);
      if (times !== undefined)
        return ownWords(stuck(failure.call.name || "a nameless tool", times, reasonOf(failure)));
    }
  }
  return summarise(messages);

  /** Asks with what fits of `history`, and once more with less when the provider finds that too long. */
  async function ask(
    round: number,
    history: readonly ChatMessage[],
    toolChoice: "auto" | "none",
    question: readonly ChatMessage[] = [],
  ): Promise<ChatReply> {
    const sent = context.fit(history);
    const reply = await chat(round, [...sent, ...question], toolChoice);
    if (reply.ok || reply.error.kind !== "contextOverflow" || reply.partial !== "") return reply;
    if (!context.refused(history, sent, { byAnother: reply.error.model !== undefined })) return reply;
    return chat(round, [...context.fit(history), ...question], toolChoice);
  }

  async function chat(
    round: number,
    history: readonly ChatMessage[],
    toolChoice: "auto" | "none",
  ): Promise<ChatReply> {
    await emit({ type: "model.started", round });
    const later = (event: RunEvent) => void emit(event).catch(ignoreUntilAwaited);
    const deltas = createDeltaJoin((delta) => later({ type: "model.delta", delta }));
    const { sessionKey, origin } = run;
    const reply = await deps.model.chat(
      { ...input.request, messages: history, tools: definitions, toolChoice },
      {
        signal,
        onDelta: deltas.add,
        onNotice: (notice) => later({ type: "model.notice", notice }),
        caller: { sessionKey, origin, turn: input.turn },
      },
    );
    deltas.flush();
    await emit({ type: "model.ended", round, usage: reply.ok ? reply.usage : undefined });
    return reply;
  }

  /** One more chance for an answer that came back empty. */
  async function askAgain(round: number, history: readonly ChatMessage[]): Promise<RunResult> {
    const reply = await ask(round + 1, history, "none", [{ role: "user", content: ASK_AGAIN_AFTER_BLANK }]);
    if (!reply.ok) return endedBy(reply, signal);
    if (reply.content.trim()) return answered(reply);
    return { status: "failed", error: { kind: "badRequest", message: BLANK_TWICE } };
  }

  async function summarise(history: readonly ChatMessage[]): Promise<RunResult> {
    const question = { role: "user", content: askForSummary(input.maxRounds) } as const;
    const reply = await ask(input.maxRounds, history, "none", [question]);
    if (!reply.ok) return endedBy(reply, signal);
    return reply.content.trim() ? answered(reply) : ownWords(outOfRounds(input.maxRounds));
  }
}

/** Joins the pieces of text that arrive at once: one network packet can hold many, and each event costs. */
function createDeltaJoin(emit: (delta: ChatDelta) => void) {
  let waiting: ChatDelta | undefined;
  function flush(): void {
    const ready = waiting;
    waiting = undefined;
    if (ready !== undefined) emit(ready);
  }
  return {
    flush,
    add(delta: ChatDelta): void {
      if (waiting?.kind === delta.kind) {
        waiting = { kind: delta.kind, text: waiting.text + delta.text };
        return;
      }
      flush();
      waiting = delta;
      queueMicrotask(flush);
    },
  };
}

// The next awaited emit rejects with the same error; here it would only be unhandled.
function ignoreUntilAwaited(): void {}

function assistantMessage({
  content,
  reasoningContent,
  thinkingBlocks,
  model,
}: ChatAnswer): AssistantMessage {
  return {
    role: "assistant",
    content,
    ...(model === undefined ? {} : { model }),
    ...(reasoningContent === undefined ? {} : { reasoningContent }),
    ...(thinkingBlocks === undefined ? {} : { thinkingBlocks }),
  };
}

function answered(reply: ChatAnswer): RunResult {
  return { status: "answered", message: assistantMessage(reply) };
}

/** An answer that the program gives in the model's place. */
function ownWords(content: string): RunResult {
  return { status: "answered", message: { role: "assistant", content } };
}

function endedBy(reply: ChatReply & { ok: false }, signal: AbortSignal): RunResult {
  return signal.aborted
    ? { status: "aborted", reason: signal.reason }
    : { status: "failed", error: reply.error };
}

/** What went wrong, for the user: without the words that are meant for the model. */
function reasonOf({ message }: CallResult): string {
  return oneLine(failedBecause(message.content) ?? message.content, 300);
}

/** Recognises a model that fails again and again in the same way. */
function createFailureCount(): { count(failure: CallResult): number | undefined } {
  const counts = new Map<string, number>();
  const increment = (key: string) => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count;
  };
  return {
    /** How often it has failed like this, when that is too often. */
    count({ call, message }) {
      const sameCall = increment(`call\0${call.name}\0${call.arguments}`);
      const sameError = increment(`error\0${call.name}\0${message.content}`);
      if (sameCall >= SAME_CALL_FAILURES) return sameCall;
      return sameError >= SAME_ERROR_FAILURES ? sameError : undefined;
    },
  };
}

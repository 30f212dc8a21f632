/** A model with a queue of replies and a log of requests, in process. */

import type { ChatOptions, ChatReply, ChatRequest, Model, ModelError } from "../../src/core/model.ts";

interface Call {
  readonly name: string;
  readonly arguments?: string | Readonly<Record<string, unknown>>;
  readonly id?: string;
}

export type Scripted =
  | string
  | { readonly calls: readonly Call[]; readonly content?: string }
  | { readonly error: ModelError; readonly partial?: string }
  /** Never answers; settles when aborted. */
  | { readonly hang: true; readonly text?: string }
  | ((request: ChatRequest, options: ChatOptions) => Promise<ChatReply>);

export interface FakeModel extends Model {
  readonly requests: ChatRequest[];
  push(...replies: readonly Scripted[]): void;
}

const usage = { input: 10, output: 5, cached: 0, reasoning: 0 };

export function textReply(content: string): ChatReply {
  return { ok: true, content, toolCalls: [], finishReason: "stop", usage };
}

/** Says `content` word by word until the signal aborts. Resolves to what was said. */
function say(content: string, { signal, onDelta }: Pick<ChatOptions, "signal" | "onDelta">): string {
  let said = "";
  for (const text of content.split(/(?<=\s)/)) {
    if (signal.aborted) break;
    if (text === "") continue;
    said += text;
    onDelta({ kind: "text", text });
  }
  return said;
}

function aborted(partial: string): ChatReply {
  return { ok: false, error: { kind: "aborted", message: "aborted" }, partial };
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function wordsOf(next: Exclude<Scripted, (...args: never) => unknown>): string {
  if (typeof next === "string") return next;
  if ("error" in next) return next.partial ?? "";
  return ("hang" in next ? next.text : next.content) ?? "";
}

/** Answers "out of replies" as an error when the queue is empty. */
export function createFakeModel(...script: readonly Scripted[]): FakeModel {
  const queue = [...script];
  const requests: ChatRequest[] = [];

  async function reply(
    next: Scripted | undefined,
    request: ChatRequest,
    options: ChatOptions,
  ): Promise<ChatReply> {
    if (next === undefined)
      return { ok: false, error: { kind: "badRequest", message: "out of replies" }, partial: "" };
    if (typeof next === "function") return next(request, options);
    const { signal } = options;
    // Whoever asks goes on first, as with a model that is far away.
    await Promise.resolve();
    if (signal.aborted) return aborted("");
    const said = say(wordsOf(next), options);
    if (signal.aborted) return aborted(said);
    if (typeof next === "string") return textReply(next);
    if ("error" in next) return { ok: false, error: next.error, partial: said };
    if ("hang" in next) {
      await whenAborted(signal);
      return aborted(said);
    }
    const toolCalls = next.calls.map(({ name, arguments: args = {}, id = "" }) => ({
      id,
      name,
      arguments: typeof args === "string" ? args : JSON.stringify(args),
    }));
    return { ok: true, content: said, toolCalls, finishReason: "tool_calls", usage };
  }

  return {
    provider: "fake",
    requests,
    push: (...replies) => void queue.push(...replies),
    chat(request, options) {
      requests.push(structuredClone(request));
      return reply(queue.shift(), request, options);
    },
  };
}

/** A model with a queue of replies and a log of requests, in process. */

import type {
  ChatDelta,
  ChatOptions,
  ChatReply,
  ChatRequest,
  Model,
  ModelError,
} from "../../src/core/model.ts";

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

function stream(content: string, onDelta: (delta: ChatDelta) => void): void {
  for (const text of content.split(/(?<=\s)/)) if (text !== "") onDelta({ kind: "text", text });
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
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
    if (typeof next === "string") {
      stream(next, options.onDelta);
      return textReply(next);
    }
    if ("error" in next) {
      stream(next.partial ?? "", options.onDelta);
      return { ok: false, error: next.error, partial: next.partial ?? "" };
    }
    if ("hang" in next) {
      stream(next.text ?? "", options.onDelta);
      await whenAborted(options.signal);
      return { ok: false, error: { kind: "aborted", message: "aborted" }, partial: next.text ?? "" };
    }
    stream(next.content ?? "", options.onDelta);
    const toolCalls = next.calls.map(({ name, arguments: args = {}, id = "" }) => ({
      id,
      name,
      arguments: typeof args === "string" ? args : JSON.stringify(args),
    }));
    return { ok: true, content: next.content ?? "", toolCalls, finishReason: "tool_calls", usage };
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

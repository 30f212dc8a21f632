/** One fake server and one model in front of it, as the tests of the Anthropic provider need them. */

import { afterEach, expect } from "bun:test";
import type {
  AssistantMessage,
  ChatAnswer,
  ChatDelta,
  ChatMessage,
  ChatReply,
  ChatRequest,
  ToolCall,
} from "../../../src/core/model.ts";
import { createAnthropic } from "../../../src/providers/anthropic/anthropic.ts";
import type { EndpointOptions } from "../../../src/providers/wire/endpoint.ts";
import {
  type AnthropicReply,
  type AnthropicRequest,
  type AnthropicServer,
  type AnthropicServerOptions,
  startAnthropicServer,
} from "../../fakes/anthropic-server.ts";
import { createFakeClock, type FakeClock } from "../../fakes/clock.ts";

export const KEY = "sk-ant-test-0123456789abcdef";
/** A model of the generation that takes every setting. */
export const MODEL = "claude-sonnet-4-5";

const servers: AnthropicServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** A server that is closed behind the test. */
export async function serve(
  script: AnthropicServerOptions["script"],
  options: Partial<AnthropicServerOptions> = {},
): Promise<AnthropicServer> {
  const server = await startAnthropicServer({ script, ...options });
  servers.push(server);
  return server;
}

export interface Connection {
  readonly clock: FakeClock;
  readonly deltas: readonly ChatDelta[];
  /** Resolves when the first delta arrived. */
  readonly firstDelta: Promise<void>;
  ask(request?: Partial<ChatRequest>, signal?: AbortSignal): Promise<ChatReply>;
}

export function connect(baseUrl: string, options: Partial<EndpointOptions> = {}): Connection {
  const clock = createFakeClock();
  const deltas: ChatDelta[] = [];
  const first = Promise.withResolvers<void>();
  const model = createAnthropic({ provider: "anthropic", baseUrl, apiKey: KEY, fetch, clock, ...options });
  return {
    clock,
    deltas,
    firstDelta: first.promise,
    ask: (request = {}, signal = new AbortController().signal) =>
      model.chat(requestOf(request), {
        signal,
        onDelta(delta) {
          deltas.push(delta);
          first.resolve();
        },
      }),
  };
}

export function requestOf(request: Partial<ChatRequest>): ChatRequest {
  return {
    model: MODEL,
    messages: [{ role: "user", content: "hi" }],
    tools: [],
    toolChoice: "auto",
    maxTokens: 1000,
    ...request,
  };
}

export function answerOf(reply: ChatReply): ChatAnswer {
  if (!reply.ok) throw new Error(reply.error.message);
  return reply;
}

/** An answer as it is stored, and sent with the next request. */
export function messageOf({ content, toolCalls, thinkingBlocks }: ChatAnswer): AssistantMessage {
  return {
    role: "assistant",
    content,
    toolCalls,
    ...(thinkingBlocks === undefined ? {} : { thinkingBlocks }),
  };
}

/** The reply to one request that is answered by `reply`. */
export async function replyTo(reply: AnthropicReply): Promise<ChatReply> {
  const server = await serve([reply]);
  return connect(server.url).ask();
}

/** What messages of a test are made of. */
export const TOOL = {
  name: "exec",
  description: "Run a command",
  parameters: { type: "object", properties: {} },
};

export const user = (content: string): ChatMessage => ({ role: "user", content });
export const call = (id: string, text = "{}"): ToolCall => ({ id, name: "exec", arguments: text });
export const calling = (...toolCalls: ToolCall[]): ChatMessage => ({
  role: "assistant",
  content: "",
  toolCalls,
});
export const result = (toolCallId: string, content = "ok"): ChatMessage => ({
  role: "tool",
  toolCallId,
  name: "exec",
  content,
});

/** What the server got, and took. */
export async function sentFor(
  request: Partial<ChatRequest>,
  options: Partial<EndpointOptions> = {},
  rules: Partial<AnthropicServerOptions> = {},
): Promise<AnthropicRequest> {
  const server = await serve([{ text: "ok" }], rules);
  expect(await connect(server.url, options).ask(request)).toMatchObject({ ok: true });
  expect(server.invalid).toEqual([]);
  const [sent] = server.requests;
  if (!sent) throw new Error("no request came");
  return sent;
}

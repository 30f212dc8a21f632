/** One fake server and one model in front of it, as the tests of the chat-completions provider need them. */

import { afterEach, expect } from "bun:test";
import type { ChatDelta, ChatReply, ChatRequest, Model, ModelError } from "../../src/core/model.ts";
import { createChatCompletions } from "../../src/providers/chat-completions/chat-completions.ts";
import type { EndpointOptions } from "../../src/providers/wire/endpoint.ts";
import type { Reply } from "../fakes/chat-reply.ts";
import { type ChatServer, type ChatServerOptions, startChatServer } from "../fakes/chat-server.ts";
import { createFakeClock, type FakeClock } from "../fakes/clock.ts";

const servers: ChatServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

export const KEY = "sk-test-0123456789abcdef";

/** A server that is closed behind the test. */
export async function serve(
  script: ChatServerOptions["script"],
  options: Partial<ChatServerOptions> = {},
): Promise<ChatServer> {
  const server = await startChatServer({ script, strictKeys: true, ...options });
  servers.push(server);
  return server;
}

export interface Connection {
  readonly clock: FakeClock;
  readonly deltas: readonly ChatDelta[];
  /** Resolves when the first delta arrived. */
  readonly firstDelta: Promise<void>;
  readonly model: Model;
  ask(request?: Partial<ChatRequest>, signal?: AbortSignal): Promise<ChatReply>;
}

export function connect(baseUrl: string, options: Partial<EndpointOptions> = {}): Connection {
  const clock = createFakeClock();
  const deltas: ChatDelta[] = [];
  const first = Promise.withResolvers<void>();
  const model = createChatCompletions({ provider: "fake", baseUrl, apiKey: KEY, fetch, clock, ...options });
  return {
    clock,
    deltas,
    firstDelta: first.promise,
    model,
    ask: (request = {}, signal = new AbortController().signal) =>
      model.chat(
        {
          model: "m",
          messages: [{ role: "user", content: "hi" }],
          tools: [],
          toolChoice: "auto",
          maxTokens: 100,
          ...request,
        },
        {
          signal,
          onDelta(delta) {
            deltas.push(delta);
            first.resolve();
          },
        },
      ),
  };
}

/** The reply to one request that is answered by `reply`. */
export async function replyTo(reply: Reply): Promise<ChatReply> {
  const server = await serve([reply]);
  const outcome = await connect(server.url).ask();
  expect(server.invalid).toEqual([]);
  return outcome;
}

export async function errorFor(reply: Reply): Promise<ModelError> {
  const outcome = await replyTo(reply);
  if (outcome.ok) throw new Error("the call succeeded");
  return outcome.error;
}

/** One chunk of a stream, for `Reply.events`. */
export function chunk(delta: object, finish: string | null = null) {
  return { choices: [{ index: 0, delta, finish_reason: finish }] };
}

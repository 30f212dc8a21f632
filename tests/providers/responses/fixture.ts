/** One fake Responses server and one model in front of it, as the tests of that provider need them. */

import { afterEach, expect } from "bun:test";
import type { ChatDelta, ChatReply, ChatRequest, ModelError } from "../../../src/core/model.ts";
import { createResponses } from "../../../src/providers/responses/responses.ts";
import type { EndpointOptions } from "../../../src/providers/wire/endpoint.ts";
import { createFakeClock, type FakeClock } from "../../fakes/clock.ts";
import {
  type ResponsesReply,
  type ResponsesServer,
  type ResponsesServerOptions,
  startResponsesServer,
} from "../../fakes/responses-server.ts";

const servers: ResponsesServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

export const KEY = "sk-test-0123456789abcdef";

/** A server that is closed behind the test. */
export async function serve(
  script: ResponsesServerOptions["script"],
  options: Partial<ResponsesServerOptions> = {},
): Promise<ResponsesServer> {
  const server = await startResponsesServer({ script, ...options });
  servers.push(server);
  return server;
}

export interface Connection {
  readonly clock: FakeClock;
  readonly deltas: readonly ChatDelta[];
  ask(request?: Partial<ChatRequest>, signal?: AbortSignal): Promise<ChatReply>;
}

export function connect(baseUrl: string, options: Partial<EndpointOptions> = {}): Connection {
  const clock = createFakeClock();
  const deltas: ChatDelta[] = [];
  const model = createResponses({ provider: "fake", baseUrl, apiKey: KEY, fetch, clock, ...options });
  return {
    clock,
    deltas,
    ask: (request = {}, signal = new AbortController().signal) =>
      model.chat(
        {
          model: "gpt-4.1",
          messages: [{ role: "user", content: "hi" }],
          tools: [],
          toolChoice: "auto",
          maxTokens: 100,
          ...request,
        },
        { signal, onDelta: (delta) => void deltas.push(delta) },
      ),
  };
}

/** The reply to one request that is answered by `reply`, with the deltas it came in. */
export async function replyTo(
  reply: ResponsesReply,
): Promise<{ outcome: ChatReply; deltas: readonly string[] }> {
  const server = await serve([reply]);
  const { ask, deltas } = connect(server.url);
  const outcome = await ask();
  expect(server.invalid).toEqual([]);
  return { outcome, deltas: deltas.map(({ kind, text }) => `${kind}:${text}`) };
}

export async function errorFor(reply: ResponsesReply): Promise<ModelError> {
  const { outcome } = await replyTo(reply);
  if (outcome.ok) throw new Error("the call succeeded");
  return outcome.error;
}

/** A fetch that answers with exactly these chunks, which a socket would be free to join. */
export function fetchOf(chunks: readonly Uint8Array[]): typeof fetch {
  const answer = async () =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const bytes of chunks) controller.enqueue(bytes);
          controller.close();
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  return Object.assign(answer, { preconnect() {} });
}

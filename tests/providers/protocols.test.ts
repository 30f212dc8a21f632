/** What every protocol does with a request, whatever form it gives it. */

import { describe, expect, test } from "bun:test";
import type { ProtocolName } from "../../src/core/app.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { ChatMessage, ChatRequest, ToolDefinition } from "../../src/core/model.ts";
import { protocols } from "../../src/providers/registry.ts";
import type { EndpointOptions } from "../../src/providers/wire/endpoint.ts";
import { createFakeClock } from "../fakes/clock.ts";

const NAMES: readonly ProtocolName[] = ["chatCompletions", "anthropic", "responses"];
const TOOLS: readonly ToolDefinition[] = [
  { name: "exec", description: "Run", parameters: { type: "object" } },
];

/** An endpoint that refuses everything, and what it was sent. */
function endpoint(extraBody: Readonly<Record<string, unknown>> = {}) {
  const bodies: JsonObject[] = [];
  const fetch = async (_url: unknown, init?: RequestInit) => {
    bodies.push(JSON.parse(new TextDecoder().decode(init?.body as Uint8Array)));
    return Response.json({ error: { message: "busy" } }, { status: 503 });
  };
  const options: EndpointOptions = {
    provider: "fake",
    baseUrl: "http://fake.test/v1",
    apiKey: "sk-test",
    fetch: Object.assign(fetch, { preconnect() {} }),
    clock: createFakeClock(),
    extraBody,
  };
  return { bodies, options };
}

async function ask(name: ProtocolName, options: EndpointOptions, request: Partial<ChatRequest> = {}) {
  const model = await protocols[name](options);
  const signal = new AbortController().signal;
  return model.chat(
    {
      model: "m",
      messages: [
        { role: "system", content: "be kind" },
        { role: "user", content: "hi" },
      ],
      tools: TOOLS,
      toolChoice: "auto",
      maxTokens: 100,
      ...request,
    },
    { signal, onDelta() {} },
  );
}

describe("chat() puts the user's own fields over a request's, but never in the place of", () => {
  test.each(NAMES)("the conversation and its tools, by %s", async (name) => {
    const own = { messages: [], system: "evil", instructions: "evil", input: "evil", tools: [] };
    const { bodies, options } = endpoint({ ...own, top_p: 0.5, model: "other" });
    await ask(name, options);
    const without = endpoint({ top_p: 0.5, model: "other" });
    await ask(name, without.options);
    expect(bodies).toEqual(without.bodies);
    expect(bodies).toMatchObject([{ top_p: 0.5, model: "other", tools: [{}] }]);
  });
});

/** A message that counts how often its content is read. */
function counted<Message extends ChatMessage>(message: Message) {
  let count = 0;
  const watched = {
    ...message,
    get content() {
      count++;
      return message.content;
    },
  };
  return { message: watched, reads: () => count };
}

describe("chat() puts into bytes once, and not with every request,", () => {
  test.each(["anthropic", "responses"] as const)("each message, by %s", async (name) => {
    const { options } = endpoint();
    const messages = [
      counted({ role: "system", content: "be kind" } as const),
      counted({ role: "user", content: "hi" } as const),
      counted({
        role: "assistant",
        content: "so",
        toolCalls: [{ id: "a", name: "exec", arguments: "{}" }],
      } as const),
      counted({ role: "tool", toolCallId: "a", name: "exec", content: "ok" } as const),
    ];
    const request = { messages: messages.map(({ message }) => message) };
    await ask(name, options, request);
    const before = messages.map(({ reads }) => reads());
    expect(before.every((count) => count > 0)).toBe(true);
    await ask(name, options, request);
    expect(messages.map(({ reads }) => reads())).toEqual(before);
  });

  test.each(NAMES)("the tools, by %s", async (name) => {
    const { options, bodies } = endpoint();
    let reads = 0;
    const tool: ToolDefinition = {
      name: "exec",
      description: "Run",
      get parameters() {
        reads++;
        return { type: "object" };
      },
    };
    const tools = [tool];
    await ask(name, options, { tools });
    const before = reads;
    expect(before).toBeGreaterThan(0);
    await ask(name, options, { tools });
    expect(reads).toBe(before);
    expect(bodies).toHaveLength(2);
  });
});

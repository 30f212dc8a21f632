import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest, ModelErrorKind } from "../../../src/core/model.ts";
import { eventsOf, streamOf } from "../../fakes/anthropic-reply.ts";
import { answerOf, connect, KEY, MODEL, messageOf, replyTo, serve, TOOL } from "./fixture.ts";

const FORCED: Partial<ChatRequest> = { tools: [TOOL], toolChoice: { name: "exec" } };

describe("chat() learns from a refusal, once, to", () => {
  const ok = () => ({ text: "ok" });

  test("leave out the temperature", async () => {
    const server = await serve(ok, { noTemperature: true });
    const { ask } = connect(server.url);
    for (const _ of [1, 2]) expect(await ask({ temperature: 0.1 })).toMatchObject({ ok: true });
    expect(server.requests.map(({ body }) => body["temperature"])).toEqual([0.1, undefined, undefined]);
  });

  test("say an effort in the place of a budget", async () => {
    const server = await serve(ok, { adaptiveOnly: true });
    const { ask } = connect(server.url);
    for (const _ of [1, 2]) expect(await ask({ reasoningEffort: "medium" })).toMatchObject({ ok: true });
    expect(server.invalid).toHaveLength(1);
    expect(server.requests.at(-1)?.body).toMatchObject({
      thinking: { type: "adaptive" },
      output_config: { effort: "medium" },
    });
  });

  test("say a budget where thinking is not adaptive", async () => {
    const server = await serve(ok, { budgetOnly: true });
    const { ask } = connect(server.url);
    for (const _ of [1, 2]) expect(await ask({ reasoningEffort: "adaptive" })).toMatchObject({ ok: true });
    expect(server.invalid).toHaveLength(1);
    expect(server.requests.at(-1)?.body["thinking"]).toEqual({ type: "enabled", budget_tokens: 8192 });
  });

  test("say nothing of thinking where it can be said neither way", async () => {
    const server = await serve(ok, { budgetOnly: true, adaptiveOnly: true });
    expect(await connect(server.url).ask({ reasoningEffort: "high" })).toMatchObject({ ok: true });
    expect(server.requests.at(-1)?.body).not.toContainAnyKeys(["thinking", "output_config"]);
  });

  test("let the model choose a tool that it cannot be made to call", async () => {
    const server = await serve(ok, { noForcedTool: true });
    const { ask } = connect(server.url);
    for (const _ of [1, 2]) expect(await ask(FORCED)).toMatchObject({ ok: true });
    expect(server.requests.map(({ body }) => body["tool_choice"])).toEqual([
      { type: "tool", name: "exec" },
      { type: "auto" },
      { type: "auto" },
    ]);
  });

  test("leave thinking on where it cannot be switched off, and the choice to the model that thinks", async () => {
    const server = await serve(ok, { alwaysThinks: true });
    const { ask } = connect(server.url);
    expect(await ask({ ...FORCED, model: "claude-sonnet-5" })).toMatchObject({ ok: true });
    expect(server.invalid).toHaveLength(2);
    expect(server.requests.at(-1)?.body["tool_choice"]).toEqual({ type: "auto" });
    expect(await ask({ reasoningEffort: "none", model: "claude-sonnet-5" })).toMatchObject({ ok: true });
    expect(server.invalid).toHaveLength(2);
  });

  test("ask for no more tokens than the model has", async () => {
    const server = await serve(ok, { mostTokens: 8192 });
    const { ask } = connect(server.url);
    const request = { reasoningEffort: "high", maxTokens: 8000 };
    for (const _ of [1, 2]) expect(await ask(request)).toMatchObject({ ok: true });
    expect(server.invalid).toHaveLength(1);
    expect(server.requests.at(-1)?.body).toMatchObject({
      max_tokens: 8192,
      thinking: { type: "enabled", budget_tokens: 4096 },
    });
  });

  test("keep thinking to itself that is bound to what is no longer there", async () => {
    const server = await serve((_, index) => ({
      blocks: [{ thinking: `t${index}`, signature: `s${index}` }, { text: "a" }],
    }));
    const { ask } = connect(server.url);
    const first = messageOf(answerOf(await ask({ reasoningEffort: "low" })));
    const changed = { ...first, thinkingBlocks: [{ type: "thinking", thinking: "other", signature: "s0" }] };
    const history: ChatMessage[] = [{ role: "user", content: "a" }, changed, { role: "user", content: "b" }];
    expect(await ask({ reasoningEffort: "low", messages: history })).toMatchObject({ ok: true });
    expect(server.invalid).toEqual(["messages.1.content: Invalid `signature` in `thinking` block"]);
    // What was thought since goes back, and what was refused does not.
    const later = messageOf(answerOf(await ask({ reasoningEffort: "low", messages: history })));
    await ask({ reasoningEffort: "low", messages: [...history, later, { role: "user", content: "c" }] });
    expect(server.invalid).toHaveLength(1);
    expect(server.requests.at(-1)?.text).toContain('"signature":"s2"');
    expect(server.requests.at(-1)?.text).not.toContain('"signature":"s0"');
  });

  test("do so for the model that refused alone", async () => {
    const server = await serve(ok, { noTemperature: true });
    const { ask } = connect(server.url);
    await ask({ temperature: 0.5, model: "claude-a" });
    await ask({ temperature: 0.5, model: "claude-b" });
    expect(server.invalid).toHaveLength(2);
  });

  test("do so for each of two requests that were refused at the same time", async () => {
    const server = await serve(ok, { noTemperature: true });
    const { ask } = connect(server.url);
    const replies = await Promise.all([ask({ temperature: 0.5 }), ask({ temperature: 0.5 })]);
    expect(replies.map((reply) => reply.ok)).toEqual([true, true]);
  });

  test("give up when a server goes on lowering its limit", async () => {
    const server = await serve((body) => ({
      status: 400,
      error: {
        type: "invalid_request_error",
        message: `max_tokens: ${body["max_tokens"]} > ${Number(body["max_tokens"]) - 1}`,
      },
    }));
    expect(await connect(server.url).ask({ maxTokens: 1000 })).toMatchObject({ ok: false });
    expect(server.requests).toHaveLength(2);
  });

  test("give up when there is nothing to learn", async () => {
    const refusal = { status: 400, error: { type: "invalid_request_error", message: "no thinking here" } };
    const server = await serve(() => refusal);
    const reply = await connect(server.url).ask({ reasoningEffort: "low" });
    expect(reply).toMatchObject({ ok: false, error: { kind: "badRequest" } });
    expect(server.requests).toHaveLength(1);
  });
});

describe("chat() classes", () => {
  test.each<[number, string, string, ModelErrorKind]>([
    [400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "contextOverflow"],
    [
      400,
      "invalid_request_error",
      "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
      "contextOverflow",
    ],
    [413, "request_too_large", "Request exceeds the maximum size", "contextOverflow"],
    [400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", "quota"],
    [
      400,
      "invalid_request_error",
      "You have reached your specified API usage limits. You will regain access on 2027-01-01.",
      "quota",
    ],
    [402, "billing_error", "There is an issue with your payment", "quota"],
    [401, "authentication_error", "invalid x-api-key", "auth"],
    [403, "permission_error", "Your API key does not have permission to use this resource", "auth"],
    [404, "not_found_error", "model: claude-none", "badRequest"],
    [429, "rate_limit_error", "This request would exceed your organization's rate limit", "transient"],
    [500, "api_error", "Internal server error", "transient"],
    [529, "overloaded_error", "Overloaded", "transient"],
    [400, "invalid_request_error", "Output blocked by content filtering policy", "contentFilter"],
  ])("a refusal with %d %s: %s", async (status, type, message, kind) => {
    const reply = await replyTo({ status, error: { type, message } });
    expect(reply).toMatchObject({ ok: false, error: { kind, status } });
  });

  test.each<[string, number, ModelErrorKind]>([
    ["overloaded_error", 529, "transient"],
    ["rate_limit_error", 429, "transient"],
    ["api_error", 500, "transient"],
    ["timeout_error", 504, "transient"],
    ["authentication_error", 401, "auth"],
    ["permission_error", 403, "auth"],
    ["invalid_request_error", 400, "badRequest"],
    ["billing_error", 402, "quota"],
    ["not_found_error", 404, "badRequest"],
  ])("an %s inside the stream", async (type, status, kind) => {
    const events = [
      { type: "message_start", message: {} },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "so far" } },
      { type: "error", error: { type, message: "Something" } },
    ];
    const reply = await replyTo({ events });
    expect(reply).toMatchObject({ ok: false, error: { kind, status }, partial: "so far" });
  });

  test("an error inside the stream whose type is new as passing", async () => {
    const events = [{ type: "error", error: { type: "meteor_error", message: "Something" } }];
    expect(await replyTo({ events })).toMatchObject({ ok: false, error: { kind: "transient" } });
  });

  test("an error inside the stream by the status in its code", async () => {
    const events = [{ type: "error", error: { type: "meteor_error", code: 429, message: "Something" } }];
    expect(await replyTo({ events })).toMatchObject({ ok: false, error: { kind: "transient", status: 429 } });
  });

  test("an error inside the stream whose type has a name that every object has", async () => {
    const events = [{ type: "error", error: { type: "constructor", message: "Something" } }];
    const reply = await replyTo({ events });
    expect(reply).toMatchObject({ ok: false, error: { kind: "transient" } });
    expect(reply).not.toHaveProperty("error.status");
  });

  test("arguments that are nested too deeply to be written as a bad reply", async () => {
    const input = JSON.parse(`${'{"a":'.repeat(600)}1${"}".repeat(600)}`);
    const block = { type: "tool_use", id: "a", name: "exec", input };
    const events = [
      { type: "message_start", message: {} },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" },
    ];
    const reply = await replyTo({ events });
    expect(reply).toMatchObject({ ok: false, error: { message: expect.stringContaining("too deeply") } });
  });

  test("a reply that the model refused to give", async () => {
    const reply = await replyTo({ text: "I", stop: "refusal" });
    expect(reply).toMatchObject({ ok: false, error: { kind: "contentFilter" }, partial: "I" });
  });

  test("more calls than a person could follow as a bad reply", async () => {
    const reply = await replyTo({ blocks: Array.from({ length: 257 }, () => ({ tool: "exec" })) });
    expect(reply).toMatchObject({ ok: false, error: { kind: "transient" } });
  });

  test("a connection that breaks in the middle, with the text so far", async () => {
    const gate = Promise.withResolvers<void>();
    const script = { text: ["one ", "two ", "three"] };
    const cutAt = streamOf(eventsOf(script, MODEL)).indexOf("two ");
    const server = await serve([{ ...script, cutAt, endWhen: gate.promise }]);
    const connection = connect(server.url);
    connection.firstDelta.then(gate.resolve);
    const reply = await connection.ask();
    expect(reply).toMatchObject({ ok: false, error: { kind: "transient" }, partial: "one " });
  });

  test("a wait that the server asks for", async () => {
    const reply = await replyTo({
      status: 429,
      headers: { "retry-after": "7" },
      error: { type: "rate_limit_error", message: "slow" },
    });
    expect(reply).toMatchObject({ ok: false, error: { retryAfterMs: 7000 } });
  });

  test("a key that cannot stand in a header, without showing it", async () => {
    const server = await serve([]);
    const reply = await connect(server.url, { apiKey: "sk-\nabcdefgh" }).ask();
    expect(reply).toMatchObject({ ok: false, error: { kind: "badRequest" } });
    expect(JSON.stringify(reply)).not.toContain("abcdefgh");
    expect(server.requests).toEqual([]);
  });

  test("a refusal that repeats the key, without showing it", async () => {
    const reply = await replyTo({
      status: 400,
      error: { type: "invalid_request_error", message: `bad key ${KEY}` },
    });
    expect(JSON.stringify(reply)).not.toContain(KEY);
  });
});

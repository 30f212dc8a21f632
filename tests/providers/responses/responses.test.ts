import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createResponses } from "../../../src/providers/responses/responses.ts";
import { modelContract } from "../../contracts/model.ts";
import { cutAtOffsets, joinBytes } from "../../fakes/chat-reply.ts";
import { createFakeClock } from "../../fakes/clock.ts";
import { type ResponsesReply, streamWrites } from "../../fakes/responses-reply.ts";
import { startResponsesServer } from "../../fakes/responses-server.ts";
import { connect, errorFor, fetchOf, replyTo, serve } from "./fixture.ts";

async function subject(reply: ResponsesReply) {
  const items = [{ text: ["one ", "two ", "three"] }];
  const server = await startResponsesServer({ script: () => ({ items, ...reply }) });
  const clock = createFakeClock();
  const model = createResponses({ provider: "fake", baseUrl: server.url, fetch, clock });
  const requests = () => server.requests.length;
  return { model, clock, name: "gpt-4.1", question: "count", requests, close: () => server.close() };
}

modelContract(
  "responses",
  () => subject({}),
  () => subject({ openUntil: new Promise(() => {}) }),
);

describe("chat() reads a reply", () => {
  test("of thoughts, text, calls and usage", async () => {
    const { outcome, deltas } = await replyTo({
      items: [
        { summary: ["**Plan**"], encrypted: "enc_1" },
        { text: ["Look", "ing."], phase: "commentary" },
        { name: "read_file", callId: "call_a", arguments: ['{"pa', 'th":"x"}'] },
        { name: "exec", callId: "call_b", arguments: '{"command":"ls"}' },
      ],
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 8 },
        output_tokens: 4,
        output_tokens_details: { reasoning_tokens: 3 },
      },
    });
    expect(outcome).toEqual({
      ok: true,
      content: "Looking.",
      toolCalls: [
        { id: "call_a", name: "read_file", arguments: '{"path":"x"}' },
        { id: "call_b", name: "exec", arguments: '{"command":"ls"}' },
      ],
      finishReason: "completed",
      usage: { input: 10, output: 4, cached: 8, reasoning: 3 },
      thinkingBlocks: [
        {
          id: "rs_0",
          type: "reasoning",
          summary: [{ type: "summary_text", text: "**Plan**" }],
          encrypted_content: "enc_1",
        },
        { type: "message", phase: "commentary" },
      ],
    });
    expect(deltas).toEqual(["reasoning:**Pl", "reasoning:an**", "text:Look", "text:ing."]);
  });

  test("whose text comes only with the end of its item", async () => {
    const { outcome, deltas } = await replyTo({
      items: [{ summary: "hm" }, { text: "all of it" }],
      keep: (type) => !/delta|part|_text\.done/.test(type),
    });
    expect(outcome).toMatchObject({ ok: true, content: "all of it" });
    expect(deltas).toEqual(["reasoning:hm", "text:all of it"]);
  });

  test("that comes only with its last event", async () => {
    const { outcome, deltas } = await replyTo({
      items: [
        { summary: "hm", encrypted: "enc_1" },
        { text: "first" },
        { text: "second" },
        { name: "exec", callId: "call_a", arguments: '{"command":"ls"}' },
      ],
      keep: (type) => type === "response.completed",
    });
    expect(outcome).toMatchObject({
      ok: true,
      content: "first\n\nsecond",
      toolCalls: [{ id: "call_a", name: "exec", arguments: '{"command":"ls"}' }],
      thinkingBlocks: [{ type: "reasoning", encrypted_content: "enc_1" }],
    });
    expect(deltas).toEqual(["reasoning:hm", "text:first", "text:\n\n", "text:second"]);
  });

  test.each([
    ["nothing", {}],
    ["an empty output", { output: [] }],
    ["its text alone", { output: [{ type: "message", content: [{ type: "output_text", text: "Hello" }] }] }],
  ])("that came in pieces and is repeated with %s at the end", async (_, response) => {
    const { outcome, deltas } = await replyTo({
      events: [
        { type: "response.output_item.added", output_index: 0, item: { type: "reasoning", id: "r" } },
        { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: "Hel" },
        { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: "lo" },
        { type: "response.completed", response },
      ],
    });
    expect(outcome).toMatchObject({ ok: true, content: "Hello" });
    expect(deltas).toEqual(["text:Hel", "text:lo"]);
  });

  test("whose pieces lack their end", async () => {
    const { deltas } = await replyTo({
      events: [
        { type: "response.output_text.delta", output_index: 0, delta: "Hel" },
        { type: "response.output_text.done", output_index: 0, text: "Hello" },
        { type: "response.completed" },
      ],
    });
    expect(deltas).toEqual(["text:Hel", "text:lo"]);
  });

  test("that differs from what was shown of it, and stays with what was shown", async () => {
    const { outcome } = await replyTo({
      events: [
        { type: "response.output_text.delta", output_index: 0, delta: "Hel" },
        { type: "response.output_text.done", output_index: 0, text: "Other" },
        { type: "response.completed" },
      ],
    });
    expect(outcome).toMatchObject({ ok: true, content: "Hel" });
  });

  test("without the positions and ids of its items", async () => {
    const { outcome } = await replyTo({
      events: [
        { type: "response.output_text.delta", delta: "Hel" },
        { type: "response.output_text.delta", delta: "lo" },
        { type: "response.completed", response: {} },
      ],
    });
    expect(outcome).toMatchObject({ ok: true, content: "Hello" });
  });

  test("that is a refusal in words", async () => {
    const { outcome } = await replyTo({ items: [{ text: ["I ", "cannot"], isRefusal: true }] });
    expect(outcome).toMatchObject({ ok: true, content: "I cannot" });
  });

  test("with an empty line between two messages, and between two parts of a summary", async () => {
    const { outcome, deltas } = await replyTo({
      items: [{ summary: ["ab", "cd"] }, { text: ["one"] }, { text: ["two"] }],
    });
    expect(outcome).toMatchObject({ content: "one\n\ntwo" });
    expect(deltas.filter((delta) => delta.startsWith("reasoning")).join("")).toBe(
      "reasoning:areasoning:breasoning:\n\nreasoning:creasoning:d",
    );
  });

  test("of the thoughts themselves, and keeps them for the next request", async () => {
    const { outcome, deltas } = await replyTo({
      items: [{ summary: [], thoughts: ["so ", "what"], encrypted: null }, { text: "x" }],
    });
    expect(deltas).toEqual(["reasoning:so ", "reasoning:what", "text:x"]);
    expect(outcome).toMatchObject({
      thinkingBlocks: [{ type: "reasoning", content: [{ type: "reasoning_text", text: "so what" }] }],
    });
  });

  test("and keeps no thought of which only a summary came", async () => {
    const { outcome } = await replyTo({ items: [{ summary: ["so"], encrypted: null }, { text: "x" }] });
    expect(outcome).toMatchObject({ ok: true });
    expect(outcome).not.toHaveProperty("thinkingBlocks");
  });

  test("with calls that have no id, or the same, and makes their ids", async () => {
    const { outcome } = await replyTo({
      items: [
        { name: "exec", callId: null },
        { name: "list_dir", callId: null },
      ],
    });
    if (!outcome.ok) throw new Error(outcome.error.message);
    expect(outcome.toolCalls.map(({ name }) => name)).toEqual(["exec", "list_dir"]);
    expect(new Set(outcome.toolCalls.map(({ id }) => id)).size).toBe(2);
  });

  test("with calls that all stand at position 0", async () => {
    const item = (id: string, text: string) => ({
      type: "function_call",
      call_id: id,
      name: "exec",
      arguments: text,
    });
    const { outcome } = await replyTo({
      events: [
        ...["a", "b"].flatMap((id) => [
          { type: "response.output_item.added", output_index: 0, item: item(id, "") },
          { type: "response.function_call_arguments.delta", output_index: 0, delta: `{"n":"${id}"}` },
        ]),
        { type: "response.output_item.done", output_index: 0, item: item("a", "") },
        { type: "response.output_item.done", output_index: 0, item: item("b", "") },
        { type: "response.completed", response: {} },
      ],
    });
    expect(outcome).toMatchObject({
      toolCalls: [
        { id: "a", arguments: '{"n":"a"}' },
        { id: "b", arguments: '{"n":"b"}' },
      ],
    });
  });

  test("with arguments that are told as a whole over those in pieces", async () => {
    const { outcome } = await replyTo({
      events: [
        {
          type: "response.output_item.added",
          output_index: 0,
          item: { type: "function_call", name: "exec", arguments: '{"a":1}' },
        },
        { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"a":' },
        { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"a":1}' },
        { type: "response.completed", response: {} },
      ],
    });
    expect(outcome).toMatchObject({ toolCalls: [{ name: "exec", arguments: '{"a":1}' }] });
  });

  test("with arguments once that come with the beginning of their call and again in pieces", async () => {
    const item = { type: "function_call", name: "exec", arguments: '{"a":1}' };
    const { outcome } = await replyTo({
      events: [
        { type: "response.output_item.added", output_index: 0, item },
        { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"a":' },
        { type: "response.function_call_arguments.delta", output_index: 0, delta: "1}" },
        { type: "response.completed", response: {} },
      ],
    });
    expect(outcome).toMatchObject({ toolCalls: [{ name: "exec", arguments: '{"a":1}' }] });
  });

  test("with the thought of its item, and not with what the last event says of it", async () => {
    const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "enc_1" };
    const { outcome } = await replyTo({
      events: [
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { output: [{ ...item, encrypted_content: "enc_2" }] } },
      ],
    });
    expect(outcome).toMatchObject({ thinkingBlocks: [{ encrypted_content: "enc_1" }] });
  });

  test("that was not streamed although a stream was asked for", async () => {
    const { outcome, deltas } = await replyTo({
      items: [{ text: "whole" }, { name: "exec", callId: "a" }],
      json: true,
    });
    expect(outcome).toMatchObject({ content: "whole", toolCalls: [{ id: "a", arguments: "{}" }] });
    expect(deltas).toEqual(["text:whole"]);
  });

  test("and passes over events it does not know", async () => {
    const { outcome } = await replyTo({
      events: [
        { type: "constructor" },
        { type: "response.web_search_call.searching", output_index: 0 },
        { type: "keepalive" },
        { type: "response.output_item.added", output_index: 0, item: { type: "web_search_call" } },
        { type: "response.output_text.delta", output_index: 1, delta: "x" },
        null,
        { type: "response.completed", response: null },
      ],
    });
    expect(outcome).toMatchObject({ ok: true, content: "x" });
  });

  test("that was cut off at the limit of tokens", async () => {
    const { outcome } = await replyTo({ items: [{ text: "half" }], incomplete: "max_output_tokens" });
    expect(outcome).toMatchObject({
      ok: true,
      content: "half",
      finishReason: "max_output_tokens",
      cutOff: true,
      usage: { input: 10 },
    });
  });

  test("whose surrogate pairs are cut between two deltas", async () => {
    const server = await serve([
      {
        events: [
          { type: "response.output_text.delta", output_index: 0, delta: "a\ud83d" },
          { type: "response.output_text.delta", output_index: 0, delta: "\ude00b\ud83d" },
          { type: "response.completed", response: {} },
        ],
      },
    ]);
    const { ask, deltas } = connect(server.url);
    expect(await ask()).toMatchObject({ content: "a😀b\ufffd" });
    expect(deltas.every(({ text }) => text.isWellFormed())).toBe(true);
  });

  test("and stops at its end although the connection stays open", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { outcome } = await replyTo({ items: [{ text: "done" }], openUntil: promise });
    expect(outcome).toMatchObject({ ok: true, content: "done" });
    resolve();
  });
});

describe("chat() does not care how bytes arrive", () => {
  const CONTEXT = { model: "m", nextCallId: () => "call_1" };
  const reply: ResponsesReply = {
    items: [
      { summary: ["hm — 😀"] },
      { text: ["Grüße ", "— 😀", " 中文\r\n", "end"] },
      { name: "exec", arguments: ['{"command":"ec', 'ho ✓"}'] },
    ],
  };

  test("whatever the cuts of a body", async () => {
    const bytes = joinBytes(streamWrites(reply, CONTEXT));
    const whole = await connect("http://fake.test/v1", { fetch: fetchOf([bytes]) }).ask();
    expect(whole).toMatchObject({ ok: true, content: "Grüße — 😀 中文\r\nend" });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 60 }), async (cuts) => {
        const { ask } = connect("http://fake.test/v1", { fetch: fetchOf(cutAtOffsets(bytes, cuts)) });
        expect(await ask()).toEqual(whole);
      }),
      { numRuns: 60 },
    );
  });

  test("and a stream that is cut anywhere is a transient failure or the whole reply", async () => {
    const bytes = joinBytes(streamWrites({ items: [{ text: ["one ", "two"] }] }, CONTEXT));
    for (let end = 0; end <= bytes.length; end++) {
      const { ask } = connect("http://fake.test/v1", { fetch: fetchOf([bytes.subarray(0, end)]) });
      const outcome = await ask();
      if (outcome.ok) expect(outcome.content).toBe("one two");
      else expect(outcome).toMatchObject({ error: { kind: "transient" } });
    }
  });

  test("and whatever events come, in any order, there is a reply and its deltas are its text", async () => {
    const encoder = new TextEncoder();
    const field = fc.oneof(fc.string(), fc.nat(3), fc.constant(null), fc.constant([]), fc.constant({}));
    const item = fc.record(
      {
        type: fc.constantFrom("message", "reasoning", "function_call", "other"),
        id: field,
        call_id: field,
        name: field,
        arguments: field,
        content: fc.oneof(field, fc.array(fc.record({ type: fc.constant("output_text"), text: field }))),
        summary: fc.oneof(field, fc.array(fc.record({ text: field }))),
        encrypted_content: field,
      },
      { requiredKeys: ["type"] },
    );
    const types = [
      "output_item.added",
      "output_item.done",
      "output_text.delta",
      "output_text.done",
      "refusal.delta",
      "reasoning_summary_text.delta",
      "reasoning_text.done",
      "function_call_arguments.delta",
      "function_call_arguments.done",
    ].map((name) => `response.${name}`);
    const event = fc.record(
      {
        type: fc.constantFrom(...types),
        output_index: field,
        item_id: field,
        content_index: field,
        delta: field,
        text: field,
        arguments: field,
        item: fc.oneof(item, field),
      },
      { requiredKeys: ["type"] },
    );
    const end = fc.record({
      type: fc.constantFrom("response.completed", "response.incomplete"),
      response: fc.record({ output: fc.oneof(fc.array(item), field), usage: field }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 12 }), end, async (events, last) => {
        const body = [...events, last].map((data) => `data: ${JSON.stringify(data)}\n\n`).join("");
        const { ask, deltas } = connect("http://fake.test/v1", { fetch: fetchOf([encoder.encode(body)]) });
        const outcome = await ask();
        if (!outcome.ok) throw new Error(outcome.error.message);
        const text = deltas.filter(({ kind }) => kind === "text").map((delta) => delta.text);
        expect(text.join("")).toBe(outcome.content);
        expect(new Set(outcome.toolCalls.map(({ id }) => id)).size).toBe(outcome.toolCalls.length);
      }),
      { numRuns: 200 },
    );
  });
});

describe("chat() fails", () => {
  const failed = (code: string | null, message = "no") => ({
    events: [
      { type: "response.created", response: { status: "in_progress" } },
      { type: "response.failed", response: { status: "failed", error: { code, message } } },
    ],
  });

  test.each([
    ["rate_limit_exceeded", "transient", 429],
    ["server_error", "transient", 500],
    ["insufficient_quota", "quota", 429],
    ["context_length_exceeded", "contextOverflow", 400],
    ["invalid_prompt", "badRequest", 400],
    ["invalid_api_key", "auth", 401],
    ["image_file_not_found", "badRequest", 400],
    ["bio_policy", "contentFilter", undefined],
    ["upstream_stopped", "transient", undefined],
    [null, "transient", undefined],
  ] as const)("as the code %p of its reply says", async (code, kind, status) => {
    const error = await errorFor(failed(code));
    expect([error.kind, error.status]).toEqual([kind, status]);
  });

  test("and waits as long as the words of the error say", async () => {
    const error = await errorFor(failed("rate_limit_exceeded", "Please try again in 11.054s. Visit us"));
    expect(error.retryAfterMs).toBe(11_054);
  });

  test.each([
    ["flat", { type: "error", code: "server_error", message: "oops" }],
    ["nested", { type: "error", error: { type: "server_error", code: null, message: "oops" } }],
    ["without a type", { error: { code: "server_error", message: "oops" } }],
  ])("as an error event that is %s says", async (_, event) => {
    expect(await errorFor({ events: [event] })).toMatchObject({ kind: "transient", status: 500 });
    expect((await errorFor({ events: [event] })).message).toContain("oops");
  });

  test("when a content filter stopped the reply, and gives the text that was shown", async () => {
    const { outcome } = await replyTo({ items: [{ text: "half" }], incomplete: "content_filter" });
    expect(outcome).toMatchObject({ ok: false, error: { kind: "contentFilter" }, partial: "half" });
  });

  test("when the whole response says that it failed", async () => {
    const body = { object: "response", status: "failed", error: { code: "server_error" }, output: [] };
    expect(await errorFor({ json: true, body })).toMatchObject({ kind: "transient", status: 500 });
  });

  test("not at all when a whole body has a reply in it that does not say that it is over", async () => {
    const { outcome } = await replyTo({
      items: [{ text: "whole" }],
      keep: (type) => !/completed/.test(type),
    });
    expect(outcome).toMatchObject({ ok: true, content: "whole" });
  });

  const manyEvents = (type: string, field: string) => ({
    events: Array.from({ length: 257 }, (_, index) => ({ type, [field]: index, delta: "x" })),
  });

  test.each([
    ["messages", manyEvents("response.output_text.delta", "output_index")],
    ["thoughts", manyEvents("response.reasoning_text.delta", "output_index")],
    ["tool calls", manyEvents("response.function_call_arguments.delta", "output_index")],
    ["parts of text", manyEvents("response.output_text.delta", "content_index")],
  ])("when too many %s come", async (what, reply) => {
    const { kind, message } = await errorFor(reply);
    expect(kind).toBe("transient");
    expect(message).toContain(`more than 256 ${what}`);
  });

  test("when arguments are nested too deeply to be written", async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(600)}1${"}".repeat(600)}`);
    const item = { type: "function_call", call_id: "a", name: "exec", arguments: deep };
    const { message } = await errorFor({
      events: [{ type: "response.output_item.done", output_index: 0, item }],
    });
    expect(message).toContain("nested too deeply");
  });

  test("when too many calls come", async () => {
    const items = Array.from({ length: 300 }, () => ({ name: "exec" }));
    expect((await errorFor({ items })).message).toContain("more than 256 tool calls");
  });
});

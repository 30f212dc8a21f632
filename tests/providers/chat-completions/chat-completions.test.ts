import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createChatCompletions } from "../../../src/providers/chat-completions/chat-completions.ts";
import { modelContract } from "../../contracts/model.ts";
import { cutAtOffsets, joinBytes, type Reply, streamWrites } from "../../fakes/chat-reply.ts";
import { startChatServer } from "../../fakes/chat-server.ts";
import { createFakeClock } from "../../fakes/clock.ts";
import { chunk, connect, replyTo, serve } from "../fixture.ts";

async function subject(reply: Reply) {
  const server = await startChatServer({ script: () => ({ text: ["one ", "two ", "three"], ...reply }) });
  const clock = createFakeClock();
  const model = createChatCompletions({ provider: "fake", baseUrl: server.url, fetch, clock });
  const requests = () => server.requests.length;
  return { model, clock, name: "m", question: "count", requests, close: () => server.close() };
}

modelContract(
  "chat-completions",
  () => subject({}),
  () => subject({ done: false, holdAfter: { writes: 99, until: new Promise(() => {}) } }),
);

describe("chat() reads a reply", () => {
  test("of text, reasoning and usage", async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 4,
      prompt_tokens_details: { cached_tokens: 8 },
      completion_tokens_details: { reasoning_tokens: 3 },
    };
    const server = await serve([{ text: ["Hel", "lo"], reasoning: ["hm", "m"], usage }]);
    const connection = connect(server.url);
    expect(await connection.ask()).toEqual({
      ok: true,
      content: "Hello",
      toolCalls: [],
      finishReason: "stop",
      usage: { input: 10, output: 4, cached: 8, reasoning: 3 },
      reasoningContent: "hmm",
    });
    expect(connection.deltas.map(({ kind, text }) => `${kind}:${text}`)).toEqual([
      "reasoning:hm",
      "reasoning:m",
      "text:Hel",
      "text:lo",
    ]);
  });

  test("of tool calls whose arguments come in pieces", async () => {
    const calls = [
      { id: "a", name: "read_file", arguments: ['{"pa', 'th":"x', '"}'] },
      { id: "b", name: "exec", arguments: { command: "ls" } },
    ];
    expect(await replyTo({ text: "Looking.", toolCalls: calls })).toMatchObject({
      ok: true,
      content: "Looking.",
      toolCalls: [
        { id: "a", name: "read_file", arguments: '{"path":"x"}' },
        { id: "b", name: "exec", arguments: '{"command":"ls"}' },
      ],
    });
  });

  test.each([["stop"], [null], [""], ["end_turn"]])(
    "with tool calls although the finish reason is %p",
    async (finishReason) => {
      const reply = await replyTo({ toolCalls: [{ name: "exec" }], finishReason });
      expect(reply).toMatchObject({ ok: true, toolCalls: [{ name: "exec", arguments: "{}" }] });
    },
  );

  test("with tool calls that carry no index", async () => {
    const toolCalls = [
      { id: "a", name: "exec", index: null, arguments: '{"command":"a"}' },
      { id: "b", name: "exec", index: null, arguments: '{"command":"b"}' },
    ];
    expect(await replyTo({ toolCalls })).toMatchObject({
      toolCalls: [
        { id: "a", arguments: '{"command":"a"}' },
        { id: "b", arguments: '{"command":"b"}' },
      ],
    });
  });

  test("with tool calls that carry neither index nor id, and makes their ids", async () => {
    const toolCalls = [
      { id: null, name: "exec", index: null, arguments: ['{"command":', '"a"}'] },
      { id: null, name: "list_dir", index: null },
    ];
    const reply = await replyTo({ toolCalls });
    if (!reply.ok) throw new Error(reply.error.message);
    expect(reply.toolCalls.map((call) => [call.name, call.arguments])).toEqual([
      ["exec", '{"command":"a"}'],
      ["list_dir", "{}"],
    ]);
    const ids = reply.toolCalls.map((call) => call.id);
    expect(new Set(ids).size).toBe(2);
    expect(ids.every((id) => /^[a-zA-Z0-9_-]{1,40}$/.test(id))).toBe(true);
  });

  test("with calls that all have the index 0 and different ids", async () => {
    const toolCalls = [
      { id: "a", name: "exec", index: 0 },
      { id: "b", name: "exec", index: 0 },
    ];
    expect(await replyTo({ toolCalls })).toMatchObject({ toolCalls: [{ id: "a" }, { id: "b" }] });
  });

  test("with one id given to two calls, and keeps them apart", async () => {
    const toolCalls = [
      { id: "a", name: "exec", index: 0 },
      { id: "a", name: "exec", index: 1 },
    ];
    const reply = await replyTo({ toolCalls });
    expect(new Set(reply.ok ? reply.toolCalls.map((call) => call.id) : []).size).toBe(2);
  });

  test("without calls that have neither a name nor arguments", async () => {
    const calls = [
      { index: 0, id: "a", function: { name: "", arguments: "" } },
      { index: 1, id: "b", function: { name: "exec", arguments: "{}" } },
    ];
    const events = [chunk({ tool_calls: calls }), chunk({}, "tool_calls")];
    const reply = await replyTo({ events });
    expect(reply.ok && reply.toolCalls.map(({ id }) => id)).toEqual(["b"]);
  });

  test("with arguments that are an object instead of its text", async () => {
    const call = { index: 0, id: "a", function: { name: "exec", arguments: { command: "ls" } } };
    const events = [chunk({ tool_calls: [call] }), chunk({}, "tool_calls")];
    expect(await replyTo({ events })).toMatchObject({ toolCalls: [{ arguments: '{"command":"ls"}' }] });
  });

  test("with a name that is repeated in every delta", async () => {
    const delta = (text: string) =>
      chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "exec", arguments: text } }] });
    const events = [delta('{"command":'), delta('"ls"}'), chunk({}, "tool_calls")];
    expect(await replyTo({ events })).toMatchObject({
      toolCalls: [{ name: "exec", arguments: '{"command":"ls"}' }],
    });
  });

  test.each([
    ["an empty list of", { choices: [] }],
    ["null for", { choices: null }],
    ["no", {}],
  ])("whose usage comes with %s choices", async (_, choices) => {
    const last = { ...choices, usage: { prompt_tokens: 7, completion_tokens: 2 } };
    const events = [chunk({ content: "fine" }), chunk({}, "stop"), last];
    expect(await replyTo({ events })).toMatchObject({ content: "fine", usage: { input: 7, output: 2 } });
  });

  test("whose content is a list of parts", async () => {
    const parts = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "yes" },
    ];
    expect(await replyTo({ events: [chunk({ content: parts }), chunk({}, "stop")] })).toMatchObject({
      content: "yes",
      reasoningContent: "hm",
    });
  });

  test("that was not streamed although a stream was asked for", async () => {
    const toolCalls = [{ id: "a", name: "exec", arguments: { command: "ls" } }];
    expect(await replyTo({ text: "whole", toolCalls, json: true })).toMatchObject({
      ok: true,
      content: "whole",
      toolCalls: [{ id: "a", name: "exec", arguments: '{"command":"ls"}' }],
    });
  });

  test("without [DONE] when a finish reason came", async () => {
    expect(await replyTo({ text: "all", done: false })).toMatchObject({ ok: true, content: "all" });
  });

  test("without a finish reason when [DONE] came", async () => {
    expect(await replyTo({ text: "all", finishReason: false })).toMatchObject({ ok: true, content: "all" });
  });

  test("whose surrogate pairs are cut between two deltas", async () => {
    const server = await serve([
      { events: [chunk({ content: "a\ud83d" }), chunk({ content: "\ude00b\ud83d" }), chunk({}, "stop")] },
    ]);
    const connection = connect(server.url);
    expect(await connection.ask()).toMatchObject({ content: "a😀b\ufffd" });
    expect(connection.deltas.every(({ text }) => text.isWellFormed())).toBe(true);
  });

  test("and stops at its end although the connection stays open", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const reply = await replyTo({ text: "done", holdAfter: { writes: 5, until: promise } });
    expect(reply).toMatchObject({ ok: true, content: "done" });
    resolve();
  });

  test("with CRLF line ends, byte by byte", async () => {
    const reply = await replyTo({ text: ["a—", "b😀"], crlf: true, rechunk: "bytes" });
    expect(reply).toMatchObject({ ok: true, content: "a—b😀" });
  });
});

/** A fetch that answers with exactly these chunks, which a socket would be free to join. */
function fetchOf(chunks: readonly Uint8Array[]): typeof fetch {
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

const CONTEXT = { model: "m", includeUsage: true, promptTokens: 5, nextCallId: () => "call_1" };

describe("chat() does not care how bytes arrive", () => {
  const reply: Reply = {
    text: ["Grüße ", "— 😀", " 中文\r\n", "end"],
    reasoning: ["hm"],
    toolCalls: [{ name: "exec", arguments: ['{"command":"ec', 'ho ✓"}'] }],
  };

  test.each([
    ["LF", false],
    ["CRLF", true],
  ])("whatever the cuts of a body with %s", async (_, crlf) => {
    const bytes = joinBytes(streamWrites({ ...reply, crlf }, CONTEXT));
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

  test("and comments and unknown fields between events change nothing", async () => {
    const noise = ": waiting\n\nevent: ping\nid: 7\nretry: 10\n\n";
    const body = streamWrites({ text: ["a", "b"] }, CONTEXT)
      .map((bytes) => noise + new TextDecoder().decode(bytes))
      .join("");
    expect(await replyTo({ raw: body })).toMatchObject({ ok: true, content: "ab" });
  });

  test("and a stream that is cut anywhere is a transient failure or the whole reply", async () => {
    const bytes = joinBytes(streamWrites({ text: ["one ", "two"] }, CONTEXT));
    for (let end = 0; end <= bytes.length; end++) {
      const { ask } = connect("http://fake.test/v1", { fetch: fetchOf([bytes.subarray(0, end)]) });
      const outcome = await ask();
      if (outcome.ok) expect(outcome.content).toBe("one two");
      else expect(outcome).toMatchObject({ error: { kind: "transient" } });
    }
  });
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createAnthropic } from "../../../src/providers/anthropic/anthropic.ts";
import { modelContract } from "../../contracts/model.ts";
import { type AnthropicReply, eventsOf, streamOf } from "../../fakes/anthropic-reply.ts";
import { startAnthropicServer } from "../../fakes/anthropic-server.ts";
import { cutAtOffsets } from "../../fakes/chat-reply.ts";
import { createFakeClock } from "../../fakes/clock.ts";
import { answerOf, connect, MODEL, replyTo, serve } from "./fixture.ts";

async function subject(reply: AnthropicReply) {
  const server = await startAnthropicServer({ script: () => reply, keyless: true });
  const clock = createFakeClock();
  const model = createAnthropic({ provider: "fake", baseUrl: server.url, fetch, clock });
  const requests = () => server.requests.length;
  return { model, clock, name: MODEL, question: "count", requests, close: () => server.close() };
}

const COUNTS: AnthropicReply = { text: ["one ", "two ", "three"] };

modelContract(
  "anthropic",
  () => subject(COUNTS),
  // Its reason to stop is there, but not the event behind it.
  () => subject({ events: eventsOf(COUNTS, MODEL).slice(0, -1), endWhen: new Promise(() => {}) }),
);

/** Everything a reply can hold. */
const RICH: AnthropicReply = {
  blocks: [
    { thinking: ["Let me ", "see 👍"], signature: "sig-1" },
    { redacted: "opaque" },
    { text: ["Look", "ing: 🎉 ", "ü"] },
    { tool: "read_file", id: "toolu_a", input: ['{"pa', 'th":"ü', '"}'] },
    { tool: "exec", id: "toolu_b" },
  ],
};

describe("chat() reads a reply", () => {
  test("of text, thinking, calls and usage", async () => {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 200,
      cache_read_input_tokens: 3000,
      output_tokens: 40,
    };
    const server = await serve([{ ...RICH, usage }]);
    const connection = connect(server.url);
    expect(await connection.ask()).toEqual({
      ok: true,
      content: "Looking: 🎉 ü",
      toolCalls: [
        { id: "toolu_a", name: "read_file", arguments: '{"path":"ü"}' },
        { id: "toolu_b", name: "exec", arguments: "{}" },
      ],
      finishReason: "tool_use",
      usage: { input: 3210, output: 40, cached: 3000, reasoning: 0 },
      thinkingBlocks: [
        { type: "thinking", thinking: "Let me see 👍", signature: "sig-1" },
        { type: "redacted_thinking", data: "opaque" },
      ],
    });
    expect(connection.deltas.map(({ kind, text }) => `${kind}:${text}`)).toEqual([
      "reasoning:Let me ",
      "reasoning:see 👍",
      "text:Look",
      "text:ing: 🎉 ",
      "text:ü",
    ]);
  });

  test("that is not a stream", async () => {
    const streamed = answerOf(await replyTo(RICH));
    const { usage: _, ...rest } = streamed;
    expect(await replyTo({ ...RICH, json: true })).toMatchObject(rest);
  });

  test("with a surrogate pair that is cut between two deltas", async () => {
    const [high, low] = ["\ud83d", "\ude00"];
    const server = await serve([{ text: [`a${high}`, `${low}b`, high ?? ""] }]);
    const connection = connect(server.url);
    expect(await connection.ask()).toMatchObject({ content: "a😀b\ufffd" });
    expect(connection.deltas.map(({ text }) => text)).toEqual(["a", "😀b", "\ufffd"]);
  });

  test("with text on both sides of a call as two paragraphs", async () => {
    const blocks = [{ text: "one" }, { text: ", two" }, { tool: "exec" }, { text: "three" }];
    const server = await serve([{ blocks }]);
    const connection = connect(server.url);
    expect(await connection.ask()).toMatchObject({ content: "one, two\n\nthree" });
    expect(connection.deltas.map(({ text }) => text).join("")).toBe("one, two\n\nthree");
  });

  test.each(["max_tokens", "model_context_window_exceeded"])(
    "as cut off when it stops for %s",
    async (stop) => {
      expect(await replyTo({ text: "and then", stop })).toMatchObject({ ok: true, cutOff: true });
    },
  );

  test.each(["end_turn", "pause_turn", "stop_sequence", "something_new"])(
    "as whole when it stops for %s",
    async (stop) => {
      const reply = answerOf(await replyTo({ text: "done", stop }));
      expect(reply).toMatchObject({ content: "done", finishReason: stop });
      expect(reply.cutOff).toBeUndefined();
    },
  );

  test("without events, blocks and deltas that it does not know", async () => {
    const events = [
      { type: "content_block_start", index: 0, content_block: { type: "hologram", size: 3 } },
      { type: "content_block_delta", index: 0, delta: { type: "hologram_delta", part: "x" } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "{" } },
      { type: "content_block_stop", index: 0 },
      { type: "weather", sunny: true },
      ...eventsOf({ text: "hi" }, MODEL),
    ];
    expect(await replyTo({ events })).toMatchObject({ ok: true, content: "hi", toolCalls: [] });
  });

  test("with calls that all have the index 0 and one id, and keeps them apart", async () => {
    const start = { type: "content_block_start", index: 0 };
    const grow = { type: "content_block_delta", index: 0 };
    const call = { type: "tool_use", id: "a", name: "exec", input: {} };
    const events = [
      { ...start, content_block: call },
      { ...grow, delta: { type: "input_json_delta", partial_json: '{"command":"a"}' } },
      { ...start, content_block: call },
      { ...grow, delta: { type: "input_json_delta", partial_json: '{"command":"b"}' } },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
    ];
    const { toolCalls } = answerOf(await replyTo({ events }));
    expect(toolCalls.map((one) => one.arguments)).toEqual(['{"command":"a"}', '{"command":"b"}']);
    expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(2);
  });

  test("without the input of what it does not know in a call", async () => {
    const start = { type: "content_block_start", index: 0 };
    const events = [
      { ...start, content_block: { type: "tool_use", id: "a", name: "exec", input: {} } },
      { ...start, content_block: { type: "server_tool_use", id: "b", name: "search", input: {} } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"q":1}' } },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
    ];
    const { toolCalls } = answerOf(await replyTo({ events }));
    expect(toolCalls).toEqual([{ id: "a", name: "exec", arguments: "{}" }]);
  });

  test("without thinking that cannot be stored word for word", async () => {
    const blocks = [{ thinking: "\ud83d", signature: "s" }, { redacted: "d" }, { text: "hi" }];
    const { thinkingBlocks } = answerOf(await replyTo({ blocks }));
    expect(thinkingBlocks).toEqual([{ type: "redacted_thinking", data: "d" }]);
  });

  test("with the input of a call in its first event", async () => {
    const call = { type: "tool_use", id: "a", name: "exec", input: { command: "ls" } };
    const events = [
      { type: "content_block_start", index: 0, content_block: call },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
    ];
    expect(await replyTo({ events })).toMatchObject({ toolCalls: [{ arguments: '{"command":"ls"}' }] });
  });

  test("with the newer of two counts, and the older where the newer is null", async () => {
    const events = [
      { type: "message_start", message: { usage: { input_tokens: 7, output_tokens: 1 } } },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn" },
        usage: { input_tokens: null, output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } },
      },
    ];
    const reply = answerOf(await replyTo({ events }));
    expect(reply.usage).toEqual({ input: 7, output: 9, cached: 0, reasoning: 4 });
  });

  test("at its last event, and not at the end of the connection", async () => {
    const gate = Promise.withResolvers<void>();
    const server = await serve([{ text: "hi", endWhen: gate.promise }]);
    expect(await connect(server.url).ask()).toMatchObject({ ok: true, content: "hi" });
    gate.resolve();
  });

  const wholeStream = new TextEncoder().encode(streamOf(eventsOf(RICH, MODEL)));

  /** What comes of these pieces of a body. */
  async function replyFrom(pieces: readonly Uint8Array[]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    const answer = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
    const connection = connect("http://127.0.0.1:1", { fetch: Object.assign(answer, { preconnect() {} }) });
    const reply = await connection.ask();
    return { reply, text: connection.deltas.filter(({ kind }) => kind === "text").map(({ text }) => text) };
  }

  test("however its bytes are cut", async () => {
    const { reply: expected } = await replyFrom([wholeStream]);
    expect(expected).toMatchObject({ ok: true, content: "Looking: 🎉 ü" });
    const cuts = fc.array(fc.nat(wholeStream.length), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(cuts, async (offsets) => {
        const { reply, text } = await replyFrom(cutAtOffsets(wholeStream, offsets));
        expect(reply).toEqual(expected);
        expect(text.join("")).toBe("Looking: 🎉 ü");
      }),
      { numRuns: 100 },
    );
  });

  test("that breaks off as a failure, with the text so far", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(wholeStream.length), async (end) => {
        const { reply, text } = await replyFrom([wholeStream.subarray(0, end)]);
        const said = reply.ok ? reply.content : reply.partial;
        expect(text.join("")).toBe(said);
        expect("Looking: 🎉 ü".startsWith(said)).toBe(true);
        if (!reply.ok) expect(reply.error.kind).toBe("transient");
      }),
      { numRuns: 200 },
    );
  });
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatMessage } from "../../../src/core/model.ts";
import { INTERRUPTED, toolFailure } from "../../../src/lib/tool-failure.ts";
import { quirksOf } from "../../../src/providers/anthropic/quirks.ts";
import { encodeAnthropic } from "../../../src/providers/anthropic/request.ts";
import type { EndpointOptions } from "../../../src/providers/wire/endpoint.ts";
import { checkMessagesRequest } from "../../fakes/anthropic-rules.ts";
import {
  answerOf,
  call,
  calling,
  connect,
  KEY,
  MODEL,
  messageOf,
  requestOf,
  result,
  sentFor,
  serve,
  TOOL,
  user,
} from "./fixture.ts";

const MARK = { cache_control: { type: "ephemeral" } };

const withoutMarks = (text: string) => text.replaceAll(`,${JSON.stringify(MARK).slice(1, -1)}`, "");

async function messagesFor(messages: readonly ChatMessage[], options?: Partial<EndpointOptions>) {
  const { text } = await sentFor({ messages }, options);
  return JSON.parse(withoutMarks(text)).messages;
}

describe("chat() sends", () => {
  test("its keys in one order, so that equal requests are equal bytes", async () => {
    const { text } = await sentFor({
      messages: [
        { role: "system", content: "s" },
        user("u"),
        calling(call("a", '{"command":"ls"}')),
        result("a"),
      ],
      tools: [TOOL],
      toolChoice: { name: "exec" },
      temperature: 0.1,
    });
    expect(text).toBe(
      `{"model":"${MODEL}",` +
        '"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],' +
        '"tools":[{"name":"exec","description":"Run a command",' +
        '"input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral"}}],' +
        '"messages":[{"role":"user","content":[{"type":"text","text":"u","cache_control":{"type":"ephemeral"}}]},' +
        '{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"exec","input":{"command":"ls"}}]},' +
        '{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok",' +
        '"cache_control":{"type":"ephemeral"}}]}],' +
        '"tool_choice":{"type":"tool","name":"exec"},"max_tokens":1000,"temperature":0.1,"stream":true}',
    );
  });

  test("the key, a version, own headers, own fields and own parameters", async () => {
    const { headers, path, body } = await sentFor(
      {},
      { headers: { "X-Title": "n" }, extraBody: { top_k: 3 }, extraQuery: { beta: "true" } },
      { apiKey: KEY },
    );
    expect(headers).toMatchObject({
      "x-api-key": KEY,
      authorization: `Bearer ${KEY}`,
      "anthropic-version": "2023-06-01",
      "x-title": "n",
      "user-agent": "nanobot",
    });
    expect(path).toBe("/v1/messages?beta=true");
    expect(body).toMatchObject({ top_k: 3 });
  });

  test("own fields and headers in the place of its own", async () => {
    const { body, headers } = await sentFor(
      { temperature: 0.1 },
      {
        headers: { "anthropic-version": "2026-10-21" },
        extraBody: { max_tokens: 7, temperature: undefined },
      },
    );
    expect(body["max_tokens"]).toBe(7);
    expect(body).not.toContainKey("temperature");
    expect(headers["anthropic-version"]).toBe("2026-10-21");
  });

  test.each(["", "/", "/v1", "/v1/"])("to the same address when its base ends in %p", async (end) => {
    const server = await serve([{ text: "ok" }]);
    expect(await connect(`${server.url}${end}`).ask()).toMatchObject({ ok: true });
  });

  test("nothing of variables that are meant for its own vendor", async () => {
    const variables = {
      ANTHROPIC_API_KEY: "stray-key",
      ANTHROPIC_AUTH_TOKEN: "stray-token",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
      ANTHROPIC_CUSTOM_HEADERS: "X-Stray: stray-header\nAuthorization: stray\nUser-Agent: stray",
    };
    Object.assign(process.env, variables);
    try {
      const withKey = await sentFor({});
      const keyless = await sentFor({}, { apiKey: undefined }, { keyless: true });
      expect(JSON.stringify([withKey, keyless])).not.toContain("stray");
      expect(keyless.headers).not.toContainAnyKeys(["x-api-key", "authorization"]);
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
    }
  });
});

describe("chat() sends messages", () => {
  test("of one role after another as one, results first", async () => {
    const messages = await messagesFor([
      user("a"),
      user("b"),
      { role: "assistant", content: "c" },
      { role: "assistant", content: "d", toolCalls: [call("x"), call("y")] },
      result("x"),
      result("y", toolFailure("no such file")),
      user("e"),
    ]);
    expect(messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "c" },
          { type: "text", text: "d" },
          { type: "tool_use", id: "x", name: "exec", input: {} },
          { type: "tool_use", id: "y", name: "exec", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "x", content: "ok" },
          { type: "tool_result", tool_use_id: "y", content: toolFailure("no such file"), is_error: true },
          { type: "text", text: "e" },
        ],
      },
    ]);
  });

  test("of failed calls as errors, and a text that begins like one as it is", async () => {
    const messages = await messagesFor([
      user("a"),
      { role: "assistant", content: "", toolCalls: [call("x"), call("y"), call("z")] },
      result("x", "Error: is how each line of this log begins"),
      result("y", toolFailure("no such file")),
      result("z", INTERRUPTED),
    ]);
    expect(messages).toMatchObject([
      {},
      {},
      {
        content: [
          expect.not.objectContaining({ is_error: true }),
          { tool_use_id: "y", is_error: true },
          { tool_use_id: "z", is_error: true },
        ],
      },
    ]);
  });

  test("without empty ones, from a user to a user", async () => {
    const messages = await messagesFor([
      { role: "system", content: " " },
      { role: "assistant", content: "a" },
      user(" \n"),
      user("b"),
      { role: "assistant", content: "" },
      user("c"),
      { role: "assistant", content: "the beginning of " },
    ]);
    expect(messages).toMatchObject([
      { role: "user", content: [{ text: "(continued)" }] },
      { role: "assistant", content: [{ text: "a" }] },
      { role: "user", content: [{ text: "b" }, { text: "c" }] },
    ]);
  });

  test("with images before their text", async () => {
    const image = { mime: "image/png", data: "aGk=", name: "a.png" } as const;
    const messages = await messagesFor([{ role: "user", content: "see", images: [image] }]);
    expect(messages[0].content).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
      { type: "text", text: "see" },
    ]);
  });

  test("with the images of a result inside it, behind its text", async () => {
    const image = { mime: "image/png", data: "aGk=", name: "a.png" } as const;
    const block = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } };
    const messages = await messagesFor([
      user("a"),
      calling(call("x"), call("y"), call("z")),
      { ...result("x", "a picture"), images: [image, image] } as ChatMessage,
      { ...result("y", " "), images: [image] } as ChatMessage,
      result("z"),
    ]);
    expect(messages[2].content).toEqual([
      { type: "tool_result", tool_use_id: "x", content: [{ type: "text", text: "a picture" }, block, block] },
      { type: "tool_result", tool_use_id: "y", content: [block] },
      expect.objectContaining({ type: "tool_result", tool_use_id: "z", content: "ok" }),
    ]);
  });

  test("with an error that has an image by its text alone, since a marked one may hold no image", async () => {
    const image = { mime: "image/png", data: "aGk=", name: "a.png" } as const;
    const failed = { ...result("x", "Error: half of it"), images: [image] } as ChatMessage;
    const messages = await messagesFor([user("a"), calling(call("x")), failed]);
    expect(messages[2].content[0]).toMatchObject({
      content: [{ text: "Error: half of it" }, { type: "image" }],
    });
    expect(messages[2].content[0]).not.toHaveProperty("is_error");
  });

  test("with ids that the protocol takes, each once, and the same for a call and its result", async () => {
    const messages = await messagesFor([
      user("a"),
      calling(call("fc:1|x"), call("fc/1|x"), call("")),
      result("fc:1|x", "one"),
      result("", "three"),
      result("fc/1|x", "two"),
      calling(call("fc:1|x")),
      result("fc:1|x", "four"),
      calling(call("fc_1_x")),
      result("fc_1_x", "five"),
    ]);
    type Part = { id?: string; tool_use_id?: string; content?: string };
    const parts: Part[] = messages.flatMap(({ content }: { content: Part[] }) => content);
    const ids = parts.flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(new Set(ids).size).toBe(5);
    const said = (id: string | undefined) => parts.find((part) => part.tool_use_id === id)?.content;
    expect(ids.map(said)).toEqual(["one", "two", "three", "four", "five"]);
  });

  test("with arguments as an object, and none where they are no object", async () => {
    const messages = await messagesFor([
      user("a"),
      calling(call("1", '{"a": [1]}'), call("2", "[1]"), call("3", "{broken"), call("4", '{"a":"\\ud83d"}')),
      ...["1", "2", "3", "4"].map((id) => result(id)),
    ]);
    expect(messages[1].content.map(({ input }: { input: unknown }) => input)).toEqual([
      { a: [1] },
      {},
      {},
      { a: "\ufffd" },
    ]);
  });

  test("and tools without what is refused at the top of a schema", async () => {
    const parameters = { type: "object", properties: {}, anyOf: [{ required: ["a"] }] };
    const { body } = await sentFor({ tools: [{ ...TOOL, description: "", parameters }], toolChoice: "none" });
    expect(body["tools"]).toEqual([
      { name: "exec", input_schema: { type: "object", properties: {} }, ...MARK },
    ]);
    expect(body["tool_choice"]).toEqual({ type: "none" });
  });

  test("of any transcript in a form that is not refused", () => {
    const text = fc.oneof(fc.string(), fc.constantFrom("", " ", toolFailure("x"), "a\n"));
    const id = fc.oneof(
      fc.string({ maxLength: 5 }),
      fc.constantFrom("call_0", "call-0", "call:0", "call_0_2"),
    );
    const calls = fc.uniqueArray(fc.record({ id, name: fc.constant("exec"), arguments: fc.string() }), {
      maxLength: 3,
      selector: (one) => one.id,
    });
    const step = fc.oneof(
      text.map((content): ChatMessage[] => [user(content)]),
      fc
        .tuple(text, calls, text)
        .map(([content, toolCalls, said]): ChatMessage[] => [
          { role: "assistant", content, toolCalls },
          ...toolCalls.map((one) => result(one.id, said)),
        ]),
    );
    const effort = fc.constantFrom(undefined, "none", "low", "high", "adaptive");
    const transcript = fc.array(step, { maxLength: 8 });
    fc.assert(
      fc.property(text, transcript, effort, fc.boolean(), (system, steps, reasoningEffort, forced) => {
        const request = requestOf({
          messages: [{ role: "system", content: system }, ...steps.flat()],
          tools: [TOOL],
          toolChoice: forced ? { name: "exec" } : "auto",
          temperature: 0.5,
          ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
        });
        const options = { quirks: quirksOf(MODEL), mayReplay: () => true, extraBody: {} };
        const { body } = encodeAnthropic(request, options);
        expect(checkMessagesRequest(new TextDecoder().decode(body), {})).toBeUndefined();
        expect(encodeAnthropic(request, options).body).toEqual(body);
      }),
      { numRuns: 500 },
    );
  });
});

describe("chat() marks", () => {
  test("the ends of the system prompt, the tools and the last two messages of the user", async () => {
    const messages: ChatMessage[] = [
      { role: "system", content: "s" },
      user("a"),
      calling(call("1")),
      result("1"),
      calling(call("2"), call("3")),
      result("2"),
      result("3"),
    ];
    const { body, text } = await sentFor({ messages, tools: [TOOL, { ...TOOL, name: "other" }] });
    expect(text.split('"cache_control"')).toHaveLength(5);
    expect(body).toMatchObject({
      system: [MARK],
      tools: [{ name: "exec" }, { name: "other", ...MARK }],
      messages: [
        {},
        {},
        { content: [{ tool_use_id: "1", ...MARK }] },
        {},
        { content: [{ tool_use_id: "2" }, { tool_use_id: "3", ...MARK }] },
      ],
    });
  });

  test("a prefix whose bytes stay the same over ten turns", async () => {
    const server = await serve((_, index) => ({
      blocks: [
        { thinking: `t${index}`, signature: `s${index}` },
        { tool: "exec", id: `c${index % 3}`, input: { n: index } },
      ],
    }));
    const { ask } = connect(server.url);
    const messages: ChatMessage[] = [{ role: "system", content: "s" }, user("go")];
    for (let turn = 0; turn < 10; turn++) {
      const request = { messages: [...messages], tools: [TOOL], reasoningEffort: "low" };
      const answer = answerOf(await ask(request));
      messages.push(messageOf(answer), ...answer.toolCalls.map(({ id }) => result(id, `r${turn}`)));
    }
    expect(server.invalid).toEqual([]);
    const bodies = server.requests.map(({ text }) => withoutMarks(text));
    const prefixes = bodies.map((text) => text.slice(0, text.indexOf('],"tool_choice"')));
    expect(new Set(prefixes).size).toBe(10);
    for (const [index, prefix] of prefixes.slice(1).entries())
      expect(prefix).toStartWith(prefixes[index] ?? "?");
  });
});

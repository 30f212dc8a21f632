import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest } from "../../../src/core/model.ts";
import type { EndpointOptions } from "../../../src/providers/wire/endpoint.ts";
import type { LoggedRequest } from "../../fakes/chat-server.ts";
import { connect, KEY, serve } from "../fixture.ts";

const TOOL = {
  name: "exec",
  description: "Run a command",
  parameters: { type: "object", properties: { command: { type: "string" } } },
};

describe("chat() sends", () => {
  const call = (id: string, text = "{}") => ({ id, name: "exec", arguments: text });
  const result = (toolCallId: string, content = "ok"): ChatMessage => ({
    role: "tool",
    toolCallId,
    name: "exec",
    content,
  });

  /** What the server got, and took. */
  async function sentFor(
    request: Partial<ChatRequest>,
    options: Partial<EndpointOptions> = {},
  ): Promise<LoggedRequest> {
    const server = await serve([{ text: "ok" }], { strictKeys: !options.extraBody });
    expect(await connect(server.url, options).ask(request)).toMatchObject({ ok: true });
    expect(server.invalid).toEqual([]);
    const [sent] = server.requests;
    if (!sent) throw new Error("no request came");
    return sent;
  }

  test("its keys in one order, so that equal requests are equal bytes", async () => {
    const { text } = await sentFor({
      messages: [
        { role: "system", content: "s" },
        { role: "user", content: "u" },
        { role: "assistant", content: "", reasoningContent: "r", toolCalls: [call("a", '{"command":"ls"}')] },
        result("a"),
      ],
      tools: [TOOL],
      toolChoice: { name: "exec" },
      temperature: 0.1,
      reasoningEffort: "low",
    });
    // Strict servers refuse a `reasoning_content`, so only those get one that want it.
    expect(text).toBe(
      '{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},' +
        '{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function",' +
        '"function":{"name":"exec","arguments":"{\\"command\\":\\"ls\\"}"}}]},' +
        '{"role":"tool","tool_call_id":"a","content":"ok"}],' +
        '"tools":[{"type":"function","function":{"name":"exec","description":"Run a command",' +
        '"parameters":{"type":"object","properties":{"command":{"type":"string"}}}}}],' +
        '"tool_choice":{"type":"function","function":{"name":"exec"}},' +
        '"max_tokens":100,"temperature":0.1,"reasoning_effort":"low","stream":true,' +
        '"stream_options":{"include_usage":true}}',
    );
  });

  test.each(["gpt-5", "gpt-5.4-mini", "openai/gpt-5-nano", "o1", "o3-mini", "o4-mini-2025-04-16"])(
    "max_completion_tokens and no temperature to %s",
    async (model) => {
      const { body } = await sentFor({ model, temperature: 0.1 });
      expect(body).toMatchObject({ max_completion_tokens: 100 });
      expect(body).not.toContainAnyKeys(["max_tokens", "temperature"]);
    },
  );

  test.each(["gpt-4o", "claude-o1x", "foo3", "gpt-4.1"])(
    "max_tokens and a temperature to %s",
    async (model) => {
      expect((await sentFor({ model, temperature: 0.1 })).body).toMatchObject({
        max_tokens: 100,
        temperature: 0.1,
      });
    },
  );

  test("messages of one role after another as one", async () => {
    const { body } = await sentFor({
      messages: [
        { role: "user", content: "a" },
        { role: "user", content: "b" },
        { role: "assistant", content: "c" },
        { role: "assistant", content: "d", toolCalls: [call("a")] },
        result("a"),
        { role: "assistant", content: "" },
        { role: "user", content: "e" },
      ],
    });
    expect(body["messages"]).toMatchObject([
      { role: "user", content: "a\n\nb" },
      { role: "assistant", content: "c\n\nd", tool_calls: [{ id: "a" }] },
      { role: "tool", tool_call_id: "a" },
      { role: "user", content: "e" },
    ]);
  });

  test("nothing of what stands in variables for the package's own vendor", async () => {
    const set = { OPENAI_CUSTOM_HEADERS: "X-Stray: stray\nAuthorization: stray\nUser-Agent: stray" };
    Object.assign(process.env, set, { OPENAI_ORG_ID: "stray", OPENAI_BASE_URL: "http://127.0.0.1:9" });
    try {
      const { headers } = await sentFor({});
      expect(JSON.stringify(headers)).not.toContain("stray");
    } finally {
      for (const name of [...Object.keys(set), "OPENAI_ORG_ID", "OPENAI_BASE_URL"]) delete process.env[name];
    }
  });

  test("the key, own headers, own fields and own parameters", async () => {
    const { headers, path, body } = await sentFor(
      {},
      { headers: { "X-Title": "n" }, extraBody: { top_k: 3 }, extraQuery: { "api-version": "1" } },
    );
    expect(headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      "x-title": "n",
      "user-agent": "nanobot",
    });
    expect(path).toBe("/v1/chat/completions?api-version=1");
    expect(body).toMatchObject({ top_k: 3 });
  });

  test("no authorization to a server that asks for no key", async () => {
    expect((await sentFor({}, { apiKey: undefined })).headers["authorization"]).toBeUndefined();
  });

  test("nothing when the key cannot stand in a header", async () => {
    const server = await serve([]);
    const reply = await connect(server.url, { apiKey: "sk-\nabcdefgh" }).ask();
    expect(reply).toMatchObject({ ok: false, error: { kind: "badRequest" } });
    expect(JSON.stringify(reply)).not.toContain("abcdefgh");
  });

  test("no stream_options again to a server that refused them", async () => {
    const server = await serve((body) =>
      body["stream_options"]
        ? {
            status: 422,
            body: { message: { detail: [{ loc: ["body", "stream_options"], msg: "Extra inputs" }] } },
          }
        : { text: "ok" },
    );
    const { ask } = connect(server.url);
    expect(await ask()).toMatchObject({ ok: true, content: "ok" });
    expect(await ask()).toMatchObject({ ok: true, content: "ok" });
    expect(server.requests.map(({ body }) => "stream_options" in body)).toEqual([true, false, false]);
  });

  test("max_completion_tokens to a server that asks for it", async () => {
    const server = await serve((body) =>
      body["max_tokens"]
        ? {
            status: 400,
            body: {
              error: { message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." },
            },
          }
        : { text: "ok" },
    );
    expect(await connect(server.url).ask()).toMatchObject({ ok: true, content: "ok" });
  });

  test("a refused request once when there is nothing to learn", async () => {
    const server = await serve([{ status: 400, body: { error: { message: "no" } } }]);
    expect(await connect(server.url).ask()).toMatchObject({ ok: false, error: { kind: "badRequest" } });
    expect(server.requests).toHaveLength(1);
  });
});

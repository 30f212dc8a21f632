import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest } from "../../../src/core/model.ts";
import { noResponsesQuirks } from "../../../src/providers/responses/quirks.ts";
import { encodeResponsesRequest } from "../../../src/providers/responses/request.ts";
import type { EndpointOptions } from "../../../src/providers/wire/endpoint.ts";
import type { LoggedResponsesRequest } from "../../fakes/responses-server.ts";
import { connect, KEY, serve } from "./fixture.ts";

const TOOL = {
  name: "exec",
  description: "Run a command",
  parameters: { type: "object", properties: { command: { type: "string" } } },
};
const THOUGHT = {
  id: "rs_1",
  type: "reasoning",
  status: "completed",
  summary: [{ type: "summary_text", text: "so" }],
  encrypted_content: "enc_1",
};

const call = (id: string, text = "{}") => ({ id, name: "exec", arguments: text });
const result = (toolCallId: string, content = "ok"): ChatMessage => ({
  role: "tool",
  toolCallId,
  name: "exec",
  content,
});
const user = (content: string): ChatMessage => ({ role: "user", content });

/** What the server got, and took. */
async function sentFor(
  request: Partial<ChatRequest>,
  options: Partial<EndpointOptions> = {},
): Promise<LoggedResponsesRequest> {
  const server = await serve([{ items: [{ text: "ok" }] }]);
  expect(await connect(server.url, options).ask(request)).toMatchObject({ ok: true });
  expect(server.invalid).toEqual([]);
  const [sent] = server.requests;
  if (!sent) throw new Error("no request came");
  return sent;
}

describe("chat() sends", () => {
  test("its keys in one order and the conversation last, so that equal requests are equal bytes", async () => {
    const { text } = await sentFor({
      messages: [
        { role: "system", content: "s" },
        user("u"),
        {
          role: "assistant",
          content: "t",
          thinkingBlocks: [THOUGHT],
          toolCalls: [call("a", '{"command":"ls"}')],
        },
        result("a"),
      ],
      tools: [TOOL],
      toolChoice: { name: "exec" },
      temperature: 0.1,
    });
    expect(text).toBe(
      '{"model":"gpt-4.1","instructions":"s","tools":[{"type":"function","name":"exec",' +
        '"description":"Run a command","parameters":{"type":"object","properties":{"command":' +
        '{"type":"string"}}},"strict":false}],"tool_choice":{"type":"function","name":"exec"},' +
        '"max_output_tokens":100,"temperature":0.1,"store":false,"stream":true,"input":[' +
        '{"type":"message","role":"user","content":[{"type":"input_text","text":"u"}]},' +
        '{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"so"}],' +
        '"encrypted_content":"enc_1"},{"type":"message","role":"assistant","content":' +
        '[{"type":"output_text","text":"t","annotations":[]}]},{"type":"function_call","call_id":"a",' +
        '"name":"exec","arguments":"{\\"command\\":\\"ls\\"}"},{"type":"function_call_output",' +
        '"call_id":"a","output":"ok"}]}',
    );
  });

  test("each request of a session as the beginning of the next", () => {
    const messages: ChatMessage[] = [{ role: "system", content: "s" }];
    const encode = () =>
      new TextDecoder().decode(
        encodeResponsesRequest(
          { model: "gpt-5", messages: [...messages], tools: [TOOL], toolChoice: "auto", maxTokens: 100 },
          { quirks: noResponsesQuirks, extraBody: {}, givesBack: () => true },
        ),
      );
    messages.push(user("first"));
    let before = encode();
    for (let turn = 0; turn < 10; turn++) {
      messages.push(
        { role: "assistant", content: "", thinkingBlocks: [THOUGHT], toolCalls: [call(`c${turn}`)] },
        result(`c${turn}`),
        { role: "assistant", content: `answer ${turn}` },
        user(`next ${turn}`),
      );
      const next = encode();
      expect(next.startsWith(before.slice(0, -"]}".length))).toBe(true);
      before = next;
    }
  });

  test("images in front of their text, as data URLs", async () => {
    const image = { mime: "image/png", data: "aGk=", name: "a.png" } as const;
    const { body } = await sentFor({
      messages: [
        { role: "user", content: "what is it", images: [image] },
        { role: "user", content: " ", images: [image] },
        user("  "),
      ],
    });
    const part = { type: "input_image", image_url: "data:image/png;base64,aGk=", detail: "auto" };
    expect(body["input"]).toEqual([
      { type: "message", role: "user", content: [part, { type: "input_text", text: "what is it" }] },
      { type: "message", role: "user", content: [part] },
    ]);
  });

  test("images of results inside them, behind their text", async () => {
    const image = { mime: "image/png", data: "aGk=", name: "a.png" } as const;
    const { body } = await sentFor({
      messages: [
        user("u"),
        { role: "assistant", content: "", toolCalls: [call("a"), call("b")] },
        { ...result("a", "a picture"), images: [image] } as ChatMessage,
        { ...result("b", " "), images: [image, image] } as ChatMessage,
      ],
    });
    const part = { type: "input_image", image_url: "data:image/png;base64,aGk=", detail: "auto" };
    expect((body["input"] as unknown[]).slice(3)).toEqual([
      {
        type: "function_call_output",
        call_id: "a",
        output: [{ type: "input_text", text: "a picture" }, part],
      },
      { type: "function_call_output", call_id: "b", output: [part, part] },
    ]);
  });

  test("at least as many tokens as the protocol allows", async () => {
    expect((await sentFor({ maxTokens: 5 })).body).toMatchObject({ max_output_tokens: 16 });
  });

  test.each(["gpt-5", "o3-mini", "gpt-5.4-mini"])(
    "no temperature to %s, and asks for its encrypted thoughts",
    async (model) => {
      const { body } = await sentFor({ model, temperature: 0.1, reasoningEffort: "high" });
      expect(body).toMatchObject({
        include: ["reasoning.encrypted_content"],
        reasoning: { effort: "high", summary: "auto" },
        store: false,
      });
      expect(body).not.toHaveProperty("temperature");
    },
  );

  test.each([
    ["max", { effort: "xhigh", summary: "auto" }],
    ["minimal", { effort: "minimal", summary: "auto" }],
    ["none", { effort: "none" }],
    ["adaptive", undefined],
    [undefined, undefined],
  ] as const)("the effort %p", async (effort, reasoning) => {
    const { body } = await sentFor({
      model: "gpt-5",
      ...(effort === undefined ? {} : { reasoningEffort: effort }),
    });
    expect(body["reasoning"]).toEqual(reasoning);
  });

  describe("what was thought", () => {
    const conversation = (thought: Partial<Extract<ChatMessage, { role: "assistant" }>>) => ({
      model: "gpt-5",
      messages: [
        user("u"),
        { role: "assistant" as const, content: "t", thinkingBlocks: [THOUGHT], ...thought },
        user("v"),
      ],
    });
    const types = ({ body }: LoggedResponsesRequest) =>
      (body["input"] as readonly { type: string }[]).map(({ type }) => type);

    test.each([undefined, "fake/gpt-5"])("back to the model that thought it (%p)", async (model) => {
      const sent = await sentFor(conversation(model === undefined ? {} : { model }));
      expect(types(sent)).toEqual(["message", "reasoning", "message", "message"]);
    });

    test.each(["fake/gpt-5.1", "other/gpt-5"])("not to another model than %s", async (model) => {
      const phase = { type: "message", phase: "commentary" };
      const sent = await sentFor(conversation({ model, thinkingBlocks: [THOUGHT, phase] }));
      expect(types(sent)).toEqual(["message", "message", "message"]);
      expect(sent.text).not.toContain("commentary");
    });

    test("not without what came of it", async () => {
      expect(types(await sentFor(conversation({ content: "" })))).toEqual(["message", "message"]);
    });

    test("only in its own form, and with its content", async () => {
      const thinkingBlocks = [
        { type: "thinking", thinking: "so", signature: "sig" },
        { type: "reasoning", id: "rs_2", summary: [] },
        { type: "reasoning", id: "rs_3", summary: [], encrypted_content: null },
        "so",
        null,
      ];
      expect(types(await sentFor(conversation({ thinkingBlocks })))).toEqual([
        "message",
        "message",
        "message",
      ]);
    });

    test("with the phase of its message", async () => {
      const { body } = await sentFor(
        conversation({ thinkingBlocks: [THOUGHT, { type: "message", phase: "final_answer" }] }),
      );
      expect(body["input"]).toMatchObject([{}, {}, { role: "assistant", phase: "final_answer" }, {}]);
    });
  });

  test("ids that others made too long in a shorter form, the same for call and result", async () => {
    const long = "x".repeat(65);
    const other = "call:1";
    const { body } = await sentFor({
      messages: [
        user("u"),
        { role: "assistant", content: "", toolCalls: [call(long), call(other), call("y".repeat(64))] },
        result(long),
        result(other),
        result("y".repeat(64)),
      ],
    });
    const ids = (body["input"] as readonly { call_id?: string }[]).flatMap(({ call_id: id }) => id ?? []);
    expect(ids.slice(0, 3)).toEqual(ids.slice(3));
    expect(new Set(ids).size).toBe(3);
    expect(ids[2]).toBe("y".repeat(64));
  });

  test("the key, own headers, own fields and own parameters", async () => {
    const { headers, path, body } = await sentFor(
      {},
      {
        headers: { "X-Title": "n" },
        extraBody: { top_p: 0.5, input: "mine", store: true },
        extraQuery: { v: "1" },
      },
    );
    expect(headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      "x-title": "n",
      "user-agent": "nanobot",
    });
    expect(path).toBe("/v1/responses?v=1");
    expect(body).toMatchObject({ top_p: 0.5, store: true, input: [{ type: "message" }] });
  });

  test("no authorization to a server that asks for no key", async () => {
    expect((await sentFor({}, { apiKey: undefined })).headers["authorization"]).toBeUndefined();
  });
});

describe("chat() reaches Azure", () => {
  test.each([
    ["the resource", "", "/openai/responses?api-version=2025-04-01-preview", "api-key"],
    ["the API", "/openai", "/openai/responses?api-version=2025-04-01-preview", "api-key"],
    [
      "a deployment",
      "/openai/deployments/mine",
      "/openai/responses?api-version=2025-04-01-preview",
      "api-key",
    ],
    ["the newer API", "/openai/v1/", "/openai/v1/responses", "authorization"],
  ])("by the address of %s", async (_, given, path, header) => {
    const base = given.startsWith("/openai/v1") ? "/openai/v1" : "/openai";
    const server = await serve([{ items: [{ text: "ok" }] }], { base });
    const address = `${new URL(server.url).origin}${given}`;
    const reply = await connect(address, { azure: true }).ask({ model: "mine" });
    expect(reply).toMatchObject({ ok: true, content: "ok" });
    expect(server.requests.map((request) => request.path)).toEqual([path]);
    expect(server.requests[0]?.body).toMatchObject({ model: "mine" });
    expect(server.requests[0]?.headers[header]).toContain(KEY);
  });
});

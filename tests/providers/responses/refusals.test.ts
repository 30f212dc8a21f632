import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import type { ChatMessage, ChatRequest } from "../../../src/core/model.ts";
import { startChatServer } from "../../fakes/chat-server.ts";
import { type ResponsesReply, refusal } from "../../fakes/responses-server.ts";
import { connect, serve } from "./fixture.ts";

const OK = { items: [{ text: "ok" }] };
const TOOL = { name: "exec", description: "Run", parameters: { type: "object" } };
const thought = (encrypted: string) => ({
  id: "rs_1",
  type: "reasoning",
  summary: [],
  encrypted_content: encrypted,
});

const unsupported = (name: string) =>
  refusal(400, `Unsupported parameter: '${name}' is not supported with this model.`, { param: name });

/** A server that refuses a request for as long as `refuses` finds a reason, asked twice. */
async function learnt(
  refuses: (body: JsonObject) => ResponsesReply | undefined,
  request: Partial<ChatRequest>,
): Promise<readonly JsonObject[]> {
  const server = await serve((body) => refuses(body) ?? OK);
  const { ask } = connect(server.url);
  for (let time = 0; time < 2; time++) expect(await ask(request)).toMatchObject({ ok: true, content: "ok" });
  expect(server.invalid).toEqual([]);
  return server.requests.map(({ body }) => body);
}

describe("chat() learns once", () => {
  test("to send no temperature", async () => {
    const bodies = await learnt((body) => ("temperature" in body ? unsupported("temperature") : undefined), {
      temperature: 0.1,
    });
    expect(bodies.map((body) => "temperature" in body)).toEqual([true, false, false]);
  });

  test.each(["include", "store", "max_output_tokens"])("to leave out %s", async (name) => {
    const bodies = await learnt((body) => (name in body ? unsupported(name) : undefined), { model: "gpt-5" });
    expect(bodies.map((body) => name in body)).toEqual([true, false, false]);
  });

  test("to ask for no encrypted thoughts of a model that has none", async () => {
    const refused = refusal(400, "Encrypted content is not supported with this model.", { param: "include" });
    const bodies = await learnt((body) => ("include" in body ? refused : undefined), { model: "gpt-5-chat" });
    expect(bodies.map((body) => "include" in body)).toEqual([true, false, false]);
  });

  test("to ask for no summary of an account that may have none, and keeps the effort", async () => {
    const refused = refusal(400, "Your organization must be verified to generate reasoning summaries.", {
      param: "reasoning.summary",
      code: "unsupported_value",
    });
    const bodies = await learnt(
      ({ reasoning }) => (JSON.stringify(reasoning).includes("summary") ? refused : undefined),
      { model: "gpt-5", reasoningEffort: "low" },
    );
    expect(bodies.map(({ reasoning }) => reasoning)).toEqual([
      { effort: "low", summary: "auto" },
      { effort: "low" },
      { effort: "low" },
    ]);
  });

  test("the next effort that a model takes", async () => {
    const bodies = await learnt(
      ({ reasoning }) =>
        JSON.stringify(reasoning).includes("xhigh")
          ? refusal(400, "Unsupported value: 'xhigh' is not supported with the 'gpt-5' model.", {
              param: "reasoning.effort",
            })
          : undefined,
      { model: "gpt-5", reasoningEffort: "max" },
    );
    expect(bodies.map(({ reasoning }) => (reasoning as JsonObject)["effort"])).toEqual([
      "xhigh",
      "high",
      "high",
    ]);
  });

  test("that a model takes no effort at all", async () => {
    const server = await serve([OK, OK]);
    const { ask } = connect(server.url);
    expect(await ask({ model: "gpt-4.1", reasoningEffort: "low" })).toMatchObject({ ok: true });
    expect(await ask({ model: "gpt-4.1", reasoningEffort: "low" })).toMatchObject({ ok: true });
    expect(server.requests.map(({ body }) => "reasoning" in body)).toEqual([true, false, false]);
  });

  test("to let the model choose where it cannot be made to call a tool", async () => {
    const bodies = await learnt(
      ({ tool_choice: choice }) =>
        typeof choice === "object" ? refusal(400, "tool_choice must be auto", {}) : undefined,
      { tools: [TOOL], toolChoice: { name: "exec" } },
    );
    expect(bodies.map((body) => typeof body["tool_choice"])).toEqual(["object", "string", "string"]);
  });

  test("to give thoughts back without ids to a server that looks for them", async () => {
    const server = await serve((body) =>
      JSON.stringify(body["input"]).includes('"rs_1"')
        ? refusal(404, "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.")
        : OK,
    );
    const messages: ChatMessage[] = [
      { role: "user", content: "u" },
      { role: "assistant", content: "t", thinkingBlocks: [thought("enc_1")] },
      { role: "user", content: "v" },
    ];
    await connect(server.url).ask({ model: "gpt-5", messages });
    // The fake insists on the id again, as the documented API does: what matters is what was sent.
    expect(server.requests[1]?.body["input"]).toMatchObject([
      {},
      { type: "reasoning", encrypted_content: "enc_1" },
      {},
      {},
    ]);
    expect(server.requests[1]?.text).not.toContain("rs_1");
  });

  test.each([
    [
      "OpenAI's words",
      "Invalid type for 'input[2].output': expected a string, but got an array instead.",
      null,
    ],
    ["LM Studio", "Invalid type for 'input'.", "invalid_union"],
    ["llama.cpp", "Output of tool call should be 'Input text'", null],
  ])("to let images follow where a result is text alone, as by %s", async (_, message, code) => {
    const image = { mime: "image/png", data: "aGk=", name: "a.png" } as const;
    const read = { name: "read_file", arguments: "{}" };
    const looked = (id: string, ...images: (typeof image)[]): ChatMessage => {
      return { role: "tool", toolCallId: id, name: "read_file", content: `picture ${id}`, images };
    };
    const bodies = await learnt(
      ({ input }) =>
        (input as JsonObject[]).some(({ output }) => Array.isArray(output))
          ? refusal(400, message, { param: "input", code })
          : undefined,
      {
        messages: [
          { role: "user", content: "u" },
          {
            role: "assistant",
            content: "",
            toolCalls: [
              { ...read, id: "a" },
              { ...read, id: "b" },
            ],
          },
          looked("a", image),
          looked("b"),
        ],
      },
    );
    const part = { type: "input_image", image_url: "data:image/png;base64,aGk=", detail: "auto" };
    const text = { type: "input_text", text: "Image from read_file (call a):" };
    expect(bodies).toHaveLength(3);
    expect((bodies[1]?.["input"] as unknown[] | undefined)?.slice(3)).toEqual([
      { type: "function_call_output", call_id: "a", output: "picture a" },
      { type: "function_call_output", call_id: "b", output: "picture b" },
      { type: "message", role: "user", content: [text, part] },
    ]);
    expect(bodies[2]).toEqual(bodies[1] as JsonObject);
  });

  test("which thoughts of a conversation cannot be read, and goes on giving back the others", async () => {
    const server = await serve(() => OK);
    const { ask } = connect(server.url);
    const foreign: ChatMessage[] = [
      { role: "user", content: "u" },
      { role: "assistant", content: "t", thinkingBlocks: [thought("foreign")] },
      { role: "user", content: "v" },
    ];
    const own: ChatMessage[] = [
      { role: "assistant", content: "t", thinkingBlocks: [thought("enc_1")] },
      { role: "user", content: "w" },
    ];
    expect(await ask({ model: "gpt-5", messages: foreign })).toMatchObject({ ok: true });
    expect(await ask({ model: "gpt-5", messages: [...foreign, ...own] })).toMatchObject({ ok: true });
    expect(server.requests.map(({ text }) => [text.includes("foreign"), text.includes("enc_1")])).toEqual([
      [true, false],
      [false, false],
      [false, true],
    ]);
  });

  test("for all calls that were refused at the same time", async () => {
    const server = await serve((body) => ("temperature" in body ? unsupported("temperature") : OK));
    const { ask } = connect(server.url);
    const replies = await Promise.all([1, 2, 3].map(() => ask({ temperature: 0.1 })));
    expect(replies.map(({ ok }) => ok)).toEqual([true, true, true]);
  });

  test("one step down for all calls whose effort was refused at the same time", async () => {
    const server = await serve(({ reasoning }) =>
      JSON.stringify(reasoning).includes("xhigh")
        ? refusal(400, "Unsupported value: 'xhigh'", { param: "reasoning.effort" })
        : OK,
    );
    const { ask } = connect(server.url);
    const request = { model: "gpt-5", reasoningEffort: "max" };
    await Promise.all([1, 2, 3, 4].map(() => ask(request)));
    expect(await ask(request)).toMatchObject({ ok: true });
    expect(server.requests.at(-1)?.body["reasoning"]).toMatchObject({ effort: "high" });
  });

  test("about the model that refused alone", async () => {
    const server = await serve((body) =>
      body["model"] === "strict" && "temperature" in body ? unsupported("temperature") : OK,
    );
    const { ask } = connect(server.url);
    for (const model of ["strict", "lax", "strict"]) await ask({ model, temperature: 0.1 });
    expect(server.requests.map(({ body }) => [body["model"], "temperature" in body])).toEqual([
      ["strict", true],
      ["strict", false],
      ["lax", true],
      ["strict", false],
    ]);
  });

  test("nothing from words that stand far from each other", async () => {
    const message = `Bad temperature.${".".repeat(200)}Streaming is not supported.`;
    const server = await serve(() => refusal(400, message));
    expect(await connect(server.url).ask({ temperature: 0.1 })).toMatchObject({ ok: false });
    expect(server.requests).toHaveLength(1);
  });

  test("nothing from a refusal that says nothing new", async () => {
    const server = await serve([refusal(400, "no")]);
    expect(await connect(server.url).ask()).toMatchObject({ ok: false, error: { kind: "badRequest" } });
    expect(server.requests).toHaveLength(1);
  });

  test("nothing for ever from a server that goes on refusing", async () => {
    const server = await serve(() => unsupported("temperature"));
    expect(await connect(server.url).ask({ temperature: 1 })).toMatchObject({ ok: false });
    expect(server.requests).toHaveLength(2);
  });
});

describe("chat() goes on with chat completions", () => {
  test("behind a server that has no such path, at once and from then on", async () => {
    const server = await startChatServer({ script: () => ({ text: "from chat" }), strictKeys: true });
    try {
      const { ask, deltas } = connect(server.url);
      expect(await ask()).toMatchObject({ ok: true, content: "from chat" });
      expect(await ask()).toMatchObject({ ok: true, content: "from chat" });
      expect(server.requests.map(({ path }) => path)).toEqual([
        "/v1/responses",
        "/v1/chat/completions",
        "/v1/chat/completions",
      ]);
      expect(deltas.map(({ text }) => text)).toEqual(["from chat", "from chat"]);
    } finally {
      await server.close();
    }
  });

  test.each([
    [404, '{"detail":"Not Found"}'],
    [404, "404 page not found"],
    [404, "<html><title>404</title>no model here</html>"],
    [404, '{"error":{"code":"404","message":"Resource not found"}}'],
    [405, '{"detail":"Method Not Allowed"}'],
    [400, '{"error":{"message":"Unknown request URL: POST /v1/responses"}}'],
    [400, '{"error":{"message":"The model gpt-4 is not supported with the Responses API."}}'],
    [
      400,
      '{"error":{"message":"Responses API is enabled only for api-version 2025-03-01-preview and later"}}',
    ],
    [200, '{"error":"Unexpected endpoint or method. (POST /v1/responses)"}'],
  ])("after a %p that says %s", async (status, body) => {
    const reply = status === 200 ? { json: true, body: JSON.parse(body) } : { status, body };
    const server = await serve([reply], { chat: "from chat" });
    expect(await connect(server.url).ask()).toMatchObject({ ok: true, content: "from chat" });
  });

  test.each([
    [401, "Incorrect API key provided", "auth"],
    [402, "Payment required for the Responses API, which is not available", "quota"],
    [429, "You exceeded your current quota", "quota"],
    [429, "The Responses API is not available now", "transient"],
    [400, "This model's maximum context length is 10 tokens", "contextOverflow"],
    [404, "The model `gpt-4.1` does not exist or you do not have access to it.", "badRequest"],
    [404, "The API deployment for this resource does not exist", "badRequest"],
    [400, "Invalid 'input[0].content[0].image_url'. Expected a valid URL", "badRequest"],
    [
      400,
      "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'.",
      "badRequest",
    ],
    [500, "The Responses API is not supported", "transient"],
    [501, "Not implemented", "transient"],
  ] as const)("never after a %p that says %s", async (status, message, kind) => {
    const server = await serve([refusal(status, message)], { chat: "from chat" });
    expect(await connect(server.url).ask()).toMatchObject({ ok: false, error: { kind } });
    expect(server.requests).toHaveLength(1);
  });

  test("and tries its own protocol again when that failed too", async () => {
    const server = await startChatServer({ script: [{ status: 503 }, { text: "late" }] });
    try {
      const { ask } = connect(server.url);
      expect(await ask()).toMatchObject({ ok: false, error: { kind: "transient" } });
      expect(await ask()).toMatchObject({ ok: true, content: "late" });
      expect(server.requests.map(({ path }) => path)).toEqual([
        "/v1/responses",
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/chat/completions",
      ]);
    } finally {
      await server.close();
    }
  });
});

import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest } from "../../../src/core/model.ts";
import { quirkLessons } from "../../../src/providers/chat-completions/quirk-lessons.ts";
import { noQuirks, type Quirks } from "../../../src/providers/chat-completions/quirks.ts";
import { Refusal } from "../../../src/providers/wire/errors.ts";
import { createLearner, type Learner } from "../../../src/providers/wire/learner.ts";
import type { ChatVendor } from "../../fakes/chat-vendors.ts";
import { connect, serve } from "../fixture.ts";

function openAi(message: string): string {
  return JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null } });
}

/** Of requests in which every quirk shows. */
function learnerOf(known: Partial<Quirks> = {}): Learner<Quirks> {
  return createLearner<Quirks>({
    first: () => ({ ...noQuirks, ...known }),
    encode: (_request, quirks) => ({ body: new TextEncoder().encode(JSON.stringify(quirks)) }),
    lessons: ({ text }) => quirkLessons(text),
  });
}

/** Whether a refusal of the next request teaches something. */
function refuse(learner: Learner<Quirks>, body: string, ...rest: readonly (number | undefined)[]): boolean {
  const [status] = rest.length > 0 ? rest : [400];
  const request: ChatRequest = { model: "m", messages: [], tools: [], toolChoice: "auto", maxTokens: 1 };
  learner.encode(request);
  return learner.learn(new Refusal({ ...(status === undefined ? {} : { status }), body }), request);
}

/** What one refusal changes. */
function taught(body: string, known: Partial<Quirks> = {}, status = 400): Partial<Quirks> {
  const learner = learnerOf(known);
  const before = learner.quirksOf("m");
  const learnt = refuse(learner, body, status);
  const changed = Object.entries(learner.quirksOf("m")).filter(
    ([name, value]) => before[name as keyof Quirks] !== value,
  );
  expect(learnt).toBe(changed.length > 0);
  return Object.fromEntries(changed);
}

const replaying = { replayReasoning: true };
const wantsNull = { nullContent: true };

/** What it says, what that teaches, and what was known before. */
const teachings: readonly (readonly [string, Partial<Quirks>, Partial<Quirks>?])[] = [
  [
    '{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted","input":true}]}}',
    { noStreamOptions: true },
  ],
  [
    openAi(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
    { completionTokens: true },
  ],
  [
    '{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted","input":32000}]}}',
    { completionTokens: false },
  ],
  [
    openAi(
      "Unsupported value: 'temperature' does not support 0.1 with this model. Only the default (1) value is supported.",
    ),
    { noTemperature: true },
  ],
  [openAi("invalid temperature: only 1 is allowed for this model"), { noTemperature: true }],
  [openAi("`temperature` is deprecated for this model."), { noTemperature: true }],
  [openAi("deepseek-reasoner does not support this tool_choice"), { noForcedTool: true }],
  [openAi("Thinking mode does not support this tool_choice"), { noForcedTool: true }],
  [openAi("tool_choice 'specified' is incompatible with thinking enabled"), { noForcedTool: true }],
  [
    '{"error":"Invalid tool_choice type: \'object\'. Supported string values: none, auto, required"}',
    { noForcedTool: true },
  ],
  [
    openAi(
      "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or object in thinking mode",
    ),
    { noForcedTool: true },
  ],
  [openAi("Only 'auto' tool choice is supported"), { noForcedTool: true }],
  [openAi("Thinking may not be enabled when tool_choice forces tool use."), { noForcedTool: true }],
  [openAi("Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."), { shortCallIds: true }],
  [
    openAi(
      "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 64 instead.",
    ),
    { shortCallIds: true },
  ],
  [openAi("Unexpected role 'user' after role 'tool'"), { noUserAfterTool: true }],
  [
    '[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.","status":"INVALID_ARGUMENT"}}]',
    { thoughtSignatures: true },
  ],
  [
    openAi("'tool_calls.0' : property 'extra_content' is unsupported"),
    { thoughtSignatures: false },
    { thoughtSignatures: true },
  ],
  [
    openAi("The `reasoning_content` in the thinking mode must be passed back to the API."),
    { replayReasoning: true },
  ],
  [
    openAi("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"),
    { replayReasoning: true },
  ],
  [
    openAi(
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    ),
    { replayReasoning: false },
    replaying,
  ],
  [
    '{"message":{"detail":[{"type":"extra_forbidden","msg":"Extra inputs are not permitted","loc":["body","messages",3,"assistant","reasoning_content"]}]}}',
    { replayReasoning: false },
    replaying,
  ],
  [
    openAi("messages.0.content.0.cache_control: Extra inputs are not permitted"),
    { cacheMarkers: false },
    { cacheMarkers: true },
  ],
  [openAi("Unrecognized request argument supplied: reasoning_effort"), { thinking: "none" }],
  [
    openAi("[{'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\"}]"),
    { thinking: "none" },
  ],
  [openAi("property 'reasoning' is unsupported"), { thinking: "none" }, { thinking: "reasoning" }],
  [
    openAi("Reasoning is mandatory for this endpoint and cannot be disabled."),
    { thinking: "none" },
    { thinking: "reasoning" },
  ],
  ['{"error":{"message":"\\"gemma3\\" does not support thinking"}}', { thinking: "none" }],
  [openAi("invalid message content type: <nil>"), { nullContent: false }, wantsNull],
  [openAi("Invalid value for 'content': expected a string, got null."), { nullContent: false }, wantsNull],
  [
    "{\"error\":\"Invalid 'content': 'content' field must be a string or an array of objects.\"}",
    { nullContent: false },
    wantsNull,
  ],
  [openAi("content must not be null"), { nullContent: false }, wantsNull],
  [
    '{"detail":[{"loc":["body","messages",1,"assistant","content"],"msg":"Input should be a valid string","input":null}]}',
    { nullContent: false },
    wantsNull,
  ],
  [openAi("messages.1: text content blocks must be non-empty"), { nullContent: true }],
  [openAi("the content can not be empty"), { nullContent: true }],
  [openAi("messages[1].content is required"), { nullContent: true }],
  [
    openAi("Invalid request: the message at position 8 with role 'assistant' must not be empty"),
    { nullContent: true },
  ],
];

describe("learn() is taught by", () => {
  test.each(teachings.map(([body, expected, known = {}]) => [body, expected, known] as const))(
    "%s",
    (body, expected, known) => {
      expect(taught(body, known)).toEqual(expected);
      expect(taught(body, known, 422)).toEqual(expected);
    },
  );

  test("the 404 of a gateway that finds nobody who takes a parameter", () => {
    const body = openAi("No endpoints found that support the provided 'tool_choice' value.");
    expect(taught(body, {}, 404)).toEqual({ noForcedTool: true });
  });
});

describe("learn() is not taught by", () => {
  test.each([
    [
      400,
      openAi(
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens, temperature and reasoning_effort are not supported either.",
      ),
    ],
    [400, openAi("prompt is too long: 250000 tokens > 200000 maximum; content must not be empty")],
    [400, openAi("this model does not support image input")],
    [400, openAi("Invalid content type. image_url is only supported by certain models.")],
    [400, openAi("unknown variant `image_url`, expected `text`; content missing")],
    [400, openAi("The prompt was flagged by the content management policy, which is required")],
    [400, openAi("Invalid content")],
    [400, openAi('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')],
    [400, openAi("The model `m` does not exist")],
    [404, openAi("The model `m` does not exist")],
    [400, openAi("temperature must be between 0 and 2")],
    [400, `${"x".repeat(4_000)} stream_options`],
    [400, openAi(`stop is not supported${".".repeat(200)}temperature`)],
    [400, "<html>Bad Request</html>"],
    [400, ""],
    [401, openAi("stream_options")],
    [429, openAi("stream_options")],
    [500, openAi("stream_options")],
    [undefined, openAi("stream_options")],
  ])("%p %s", (status, body) => {
    const learner = learnerOf({ thinking: "effort" });
    const before = learner.quirksOf("m");
    expect(refuse(learner, body, status)).toBe(false);
    expect(learner.quirksOf("m")).toBe(before);
  });
});

describe("learn() ends", () => {
  test("when a lesson is learnt already", () => {
    const learner = learnerOf();
    const body = openAi("stream_options is unknown");
    expect([refuse(learner, body), refuse(learner, body)]).toEqual([true, false]);
  });

  test.each([{}, wantsNull])("when the server takes neither form of content, knowing %j", (known) => {
    const learner = learnerOf(known);
    const body = openAi("content must not be null or empty");
    expect([refuse(learner, body), refuse(learner, body)]).toEqual([true, false]);
  });

  test.each([
    "Thinking mode does not support this tool_choice",
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
  ])("without a wrong lesson about thinking from %s", (message) => {
    const learner = learnerOf();
    const body = openAi(message);
    expect([refuse(learner, body), refuse(learner, body)]).toEqual([true, false]);
    expect(learner.quirksOf("m").thinking).toBe("effort");
  });

  test("when the server contradicts itself", () => {
    const learner = learnerOf();
    const bodies = [
      openAi("Missing reasoning_content in message 2"),
      openAi("property 'reasoning_content' is unsupported"),
      openAi("Use 'max_completion_tokens'"),
      openAi("unknown field max_completion_tokens"),
    ];
    const learnt = [...bodies, ...bodies].map((body) => refuse(learner, body));
    expect(learnt).toEqual([true, true, true, true, false, false, false, false]);
  });
});

describe("chat() finds out by itself what is refused by", () => {
  const messages: ChatMessage[] = [
    { role: "system", content: "s" },
    { role: "user", content: "a" },
    {
      role: "assistant",
      content: "",
      reasoningContent: "hm",
      toolCalls: [{ id: `call_${"x".repeat(40)}`, name: "exec", arguments: "{}" }],
    },
    { role: "tool", toolCallId: `call_${"x".repeat(40)}`, name: "exec", content: "ok" },
    { role: "user", content: "b" },
  ];
  const request: Partial<ChatRequest> = {
    messages,
    tools: [{ name: "exec", description: "Run", parameters: { type: "object" } }],
    toolChoice: { name: "exec" },
    temperature: 0.1,
  };

  test.each<[ChatVendor, string, Partial<Quirks>, number]>([
    ["openai", "gpt-5.4", { completionTokens: false }, 2],
    ["mistral", "m", replaying, 4],
    ["deepseek", "m", {}, 2],
    ["moonshot", "m", {}, 3],
    ["gemini", "m", {}, 1],
    ["groq", "m", replaying, 1],
    ["ollama", "m", wantsNull, 1],
    ["lmStudio", "m", wantsNull, 2],
    ["anthropicViaOpenrouter", "claude", { cacheMarkers: true }, 0],
  ])("%s, once", async (vendor, model, quirks, lessons) => {
    const server = await serve([{ text: "one" }, { text: "two" }], { vendor });
    const { ask } = connect(server.url, { quirks });
    expect(await ask({ ...request, model })).toMatchObject({ ok: true, content: "one" });
    expect(server.invalid).toHaveLength(lessons);
    expect(await ask({ ...request, model })).toMatchObject({ ok: true, content: "two" });
    expect(server.invalid).toHaveLength(lessons);
  });

  test("a server that many calls ask at once", async () => {
    const server = await serve(() => ({ text: "ok" }), { vendor: "mistral" });
    const { ask } = connect(server.url);
    const replies = await Promise.all(Array.from({ length: 5 }, () => ask({ ...request })));
    expect(replies.filter(({ ok }) => !ok)).toEqual([]);
  });

  test("each model of a server for itself", async () => {
    const refused = openAi("temperature is not supported with this model");
    const server = await serve(({ model, temperature }) =>
      model === "strict" && temperature !== undefined
        ? { status: 400, body: JSON.parse(refused) }
        : { text: "ok" },
    );
    const { ask } = connect(server.url);
    for (const model of ["strict", "lax", "strict"]) {
      expect(await ask({ model, temperature: 0.5 })).toMatchObject({ ok: true });
    }
    expect(server.requests.map(({ body }) => [body["model"], body["temperature"]])).toEqual([
      ["strict", 0.5],
      ["strict", undefined],
      ["lax", 0.5],
      ["strict", undefined],
    ]);
  });

  test("no server that refuses what was not sent: the same request is never sent twice", async () => {
    const body = openAi(
      "tool_choice, temperature and reasoning_effort are not supported, content is required",
    );
    const server = await serve([{ status: 400, body: JSON.parse(body) }, { text: "never" }]);
    const reply = await connect(server.url).ask({ messages: [{ role: "user", content: "hi" }] });
    expect(reply).toMatchObject({ ok: false, error: { kind: "badRequest" } });
    expect(server.requests).toHaveLength(1);
  });

  test("nobody, and says so after one try, when images are refused", async () => {
    const server = await serve([{ text: "never" }], { images: "refused" });
    const image = { mime: "image/png", data: "iVBORw0KGgo=", name: "a.png" } as const;
    const reply = await connect(server.url).ask({
      messages: [{ role: "user", content: "look", images: [image] }],
    });
    expect(reply).toMatchObject({
      ok: false,
      error: { kind: "badRequest", message: expect.stringContaining("does not support image input") },
    });
    expect(server.requests).toHaveLength(1);
  });
});

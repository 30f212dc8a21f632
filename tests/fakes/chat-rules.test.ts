import { describe, expect, test } from "bun:test";
import { type ChatRules, checkRequest } from "./chat-rules.ts";
import { startChatServer } from "./chat-server.ts";
import type { ChatVendor } from "./chat-vendors.ts";

const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
const MARK = { cache_control: { type: "ephemeral" } };
const TOOL = { type: "function", function: { name: "exec", parameters: { type: "object" } } };

const user = (content: unknown = "hi") => ({ role: "user", content });
const assistant = (extra: object = {}, call: object = {}) => ({
  role: "assistant",
  content: "",
  tool_calls: [{ id: "abcdefgh1", type: "function", function: { name: "exec", arguments: "{}" }, ...call }],
  ...extra,
});
const result = (id = "abcdefgh1") => ({ role: "tool", tool_call_id: id, content: "ok" });
const round = (extra: object = {}, call: object = {}) => [user(), assistant(extra, call), result()];

function body(extra: object): string {
  return JSON.stringify({ model: "m", messages: [user()], ...extra });
}

function refusalOf(extra: object, rules: ChatRules): string | undefined {
  return checkRequest(body(extra), rules)?.message;
}

describe("checkRequest() takes images", () => {
  test("as data URLs before a text, or alone", () => {
    expect(refusalOf({ messages: [user([IMAGE, { type: "text", text: "look" }])] }, {})).toBeUndefined();
    expect(refusalOf({ messages: [user([IMAGE])] }, {})).toBeUndefined();
  });

  test.each<[string, unknown, RegExp]>([
    ["an address", { ...IMAGE, image_url: { url: "https://x.test/a.png" } }, /no image in base64/],
    ["another type", { ...IMAGE, image_url: { url: "data:image/bmp;base64,AAAA" } }, /no image in base64/],
    ["broken base64", { ...IMAGE, image_url: { url: "data:image/png;base64,AAA" } }, /no image in base64/],
    ["no address", { type: "image_url" }, /no image in base64/],
    ["an empty text", { type: "text", text: " " }, /empty text/],
    ["an unknown part", { type: "file", file: {} }, /unknown type/],
    ["an unknown key", { type: "text", text: "a", ...MARK }, /unknown key cache_control/],
  ])("but refuses %s", (_, part, reason) => {
    expect(refusalOf({ messages: [user([part])] }, {})).toMatch(reason);
  });

  test("but refuses a message without parts, and parts of anybody but the user", () => {
    expect(refusalOf({ messages: [user([])] }, {})).toMatch(/no parts/);
    const parts = [{ type: "text", text: "s" }];
    expect(refusalOf({ messages: [{ role: "system", content: parts }, user()] }, {})).toMatch(/a string/);
  });

  test.each([undefined, "anthropicViaOpenrouter"] as const)(
    "but refuses one in the result of a tool, as %s",
    (vendor) => {
      const messages = [user(), assistant(), { ...result(), content: [{ type: "text", text: "a" }, IMAGE] }];
      const rules = vendor === undefined ? {} : { vendor };
      expect(refusalOf({ messages }, rules)).toContain(
        "only allowed for messages with role 'user', but this message with role 'tool'",
      );
    },
  );

  test("but refuses a marker on one", () => {
    const messages = [user([{ ...IMAGE, ...MARK }])];
    expect(refusalOf({ messages }, { vendor: "anthropicViaOpenrouter" })).toContain(
      "only a text part may be",
    );
  });

  test("but refuses any for a model that cannot see", () => {
    const messages = [user([IMAGE])];
    expect(refusalOf({ messages }, { images: "refused" })).toBe("this model does not support image input");
  });
});

describe("checkRequest() refuses as", () => {
  test.each<[ChatVendor, object, string]>([
    ["openai", { model: "gpt-5", max_tokens: 1 }, "Use 'max_completion_tokens' instead"],
    ["openai", { model: "o3", temperature: 0.1 }, "Only the default (1) value is supported"],
    [
      "openai",
      { messages: [user(), assistant({}, { id: "x".repeat(41) }), result("x".repeat(41))] },
      "length 41",
    ],
    ["openai", { model: "gpt-4.1", reasoning_effort: "low" }, "Unrecognized request argument supplied"],
    [
      "openai",
      { messages: round({ reasoning_content: "r" }) },
      "Unknown parameter: 'messages[1].reasoning_content'.",
    ],
    ["mistral", { stream: true, stream_options: {} }, "stream_options"],
    ["mistral", { reasoning_effort: "low" }, "Input should be 'none' or 'high'"],
    ["mistral", { max_completion_tokens: 1 }, "max_completion_tokens"],
    ["mistral", { messages: round({ reasoning_content: "r" }) }, "messages.1.assistant.reasoning_content"],
    ["mistral", { messages: [...round(), user()] }, "Unexpected role 'user' after role 'tool'"],
    ["mistral", { messages: [user(), assistant({}, { id: "call_1" }), result("call_1")] }, "a length of 9"],
    ["deepseek", { messages: round() }, "must be passed back"],
    ["deepseek", { tools: [TOOL], tool_choice: "required" }, "does not support this tool_choice"],
    ["deepseek", { messages: [user([IMAGE])] }, "unknown variant `image_url`"],
    [
      "moonshot",
      { messages: round({ reasoning_content: "" }) },
      "is missing in assistant tool call message at index 1",
    ],
    ["moonshot", { temperature: 0.1 }, "only 1 is allowed"],
    ["moonshot", { thinking: { type: "enabled" }, reasoning_effort: "low" }, "cannot specify both"],
    ["moonshot", { tools: [TOOL], tool_choice: "required" }, "tool_choice 'required' is incompatible"],
    ["gemini", { messages: round() }, "function call `default_api:exec` , position 1"],
    ["groq", { messages: round({ reasoning_content: "r" }) }, "property 'reasoning_content' is unsupported"],
    ["groq", { reasoning_effort: "xhigh" }, "must be one of `none`, `default`"],
    ["ollama", { messages: round({ content: null }) }, "invalid message content type: <nil>"],
    ["ollama", { reasoning_effort: "minimal" }, "invalid reasoning value: 'minimal'"],
    ["lmStudio", { messages: round({ content: null }) }, "must be a string or an array of objects"],
    [
      "lmStudio",
      { tools: [TOOL], tool_choice: { type: "function", function: { name: "exec" } } },
      "Invalid tool_choice type: 'object'",
    ],
    [
      "anthropicViaOpenrouter",
      {
        tools: [{ ...TOOL, ...MARK }],
        messages: [user([1, 2, 3, 4].map((n) => ({ type: "text", text: `${n}`, ...MARK })))],
      },
      "A maximum of 4 blocks",
    ],
  ])("%s %j", (vendor, extra, reason) => {
    expect(refusalOf(extra, { vendor, strictKeys: true })).toContain(reason);
    expect(refusalOf(extra, {}) ?? "").not.toContain(reason);
  });

  test.each<[ChatVendor, object]>([
    ["openai", { model: "gpt-5", max_completion_tokens: 1, messages: round({ content: null }) }],
    ["openai", { model: "gpt-5", reasoning_effort: "xhigh" }],
    ["mistral", { messages: round(), reasoning_effort: "high" }],
    ["deepseek", { thinking: { type: "disabled" }, messages: round() }],
    ["deepseek", { messages: round({ reasoning_content: "" }) }],
    ["moonshot", { messages: round({ reasoning_content: " " }), temperature: 1 }],
    ["gemini", { messages: round({}, { extra_content: { google: { thought_signature: "s" } } }) }],
    ["groq", { messages: round({ reasoning: "r" }) }],
    ["ollama", { messages: round() }],
    ["lmStudio", { tools: [TOOL], tool_choice: "required" }],
    ["anthropicViaOpenrouter", { reasoning: { effort: "low" }, tools: [{ ...TOOL, ...MARK }] }],
  ])("%s, but not %j", (vendor, extra) => {
    expect(refusalOf(extra, { vendor, strictKeys: true })).toBeUndefined();
  });

  test.each<[string, object, string]>([
    ["a key of a message", { messages: [{ ...user(), id: "1" }] }, "messages[0] has the unknown key id"],
    ["a name of a result", { messages: [user(), assistant(), { ...result(), name: "exec" }] }, "key name"],
    ["a thought", { messages: round({ reasoning_content: "r" }) }, "key reasoning_content"],
    ["a key of a call", { messages: round({}, { index: 0 }) }, "tool_calls[0] has the unknown key index"],
    ["a key of a tool", { tools: [{ ...TOOL, ...MARK }] }, "tools[0] has the unknown key cache_control"],
    [
      "a key of a function",
      { tools: [{ ...TOOL, function: { ...TOOL.function, input_schema: {} } }] },
      "tools[0].function has the unknown key input_schema",
    ],
    [
      "a key of a choice",
      { tools: [TOOL], tool_choice: { type: "function", function: { name: "exec" }, name: "exec" } },
      "tool_choice has the unknown key name",
    ],
    [
      "a key of an image",
      { messages: [user([{ ...IMAGE, image_url: { ...IMAGE.image_url, mime: "image/png" } }])] },
      "image_url has the unknown key mime",
    ],
    ["an unknown effort", { reasoning_effort: "max" }, 'unknown value "max"'],
  ])("anybody: %s", (_, extra, reason) => {
    expect(refusalOf(extra, {})).toContain(reason);
  });

  test("one who takes only the keys that are known", () => {
    const thinking = { thinking: { type: "enabled" } };
    expect(refusalOf(thinking, { vendor: "groq", strictKeys: true })).toContain("thinking");
  });
});

test("startChatServer() refuses with the status and the body of the vendor", async () => {
  const server = await startChatServer({ script: [], vendor: "mistral" });
  try {
    const url = `${server.url}/chat/completions`;
    const response = await fetch(url, { method: "POST", body: body({ max_completion_tokens: 1 }) });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      object: "error",
      message: { detail: [{ type: "extra_forbidden", loc: ["body", "max_completion_tokens"] }] },
    });
    expect(server.invalid[0]?.invalid).toContain("max_completion_tokens");
  } finally {
    await server.close();
  }
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject } from "../../../src/core/json.ts";
import type { AssistantMessage, ChatMessage, ChatRequest, Image, ToolCall } from "../../../src/core/model.ts";
import { noQuirks, type Quirks } from "../../../src/providers/chat-completions/quirks.ts";
import { encodeRequest } from "../../../src/providers/chat-completions/request.ts";
import { createShortCallIds } from "../../../src/providers/chat-completions/short-call-ids.ts";
import { checkRequest } from "../../fakes/chat-rules.ts";

const TOOLS = ["exec", "read_file"].map((name) => ({
  name,
  description: "Do it",
  parameters: { type: "object" },
}));

const PNG: Image = { mime: "image/png", data: "iVBORw0KGgo=", name: "a.png" };

/** Well-formed, as the contract of requests has it. */
const anyText = fc.string({ unit: "binary" });

function user(content: string, ...images: readonly Image[]): ChatMessage {
  return { role: "user", content, ...(images.length > 0 ? { images } : {}) };
}

function call(id: string, extra?: JsonObject): ToolCall {
  return { id, name: "exec", arguments: "{}", ...(extra === undefined ? {} : { extra }) };
}

function calls(toolCalls: readonly ToolCall[], more: Partial<AssistantMessage> = {}): ChatMessage {
  return { role: "assistant", content: "", toolCalls, ...more };
}

function result(toolCallId: string, content = "ok"): ChatMessage {
  return { role: "tool", toolCallId, name: "exec", content };
}

function textOf(
  request: Partial<ChatRequest> = {},
  quirks: Partial<Quirks> = {},
  extraBody: Readonly<Record<string, unknown>> = {},
): string {
  const whole: ChatRequest = {
    model: "m",
    messages: [user("hi")],
    tools: [],
    toolChoice: "auto",
    maxTokens: 100,
    ...request,
  };
  return new TextDecoder().decode(encodeRequest(whole, { ...noQuirks, ...quirks }, extraBody));
}

interface Body {
  readonly messages: readonly Record<string, unknown>[];
  readonly tools?: readonly Record<string, unknown>[];
  readonly [key: string]: unknown;
}

function bodyOf(...args: Parameters<typeof textOf>): Body {
  return JSON.parse(textOf(...args)) as Body;
}

function sent(messages: readonly ChatMessage[], quirks: Partial<Quirks> = {}): Body["messages"] {
  return bodyOf({ messages, tools: TOOLS }, quirks).messages;
}

describe("encodeRequest() puts images", () => {
  test("before the text, as data URLs", () => {
    expect(sent([user("look", PNG, { ...PNG, mime: "image/webp" })])).toEqual([
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
          { type: "image_url", image_url: { url: "data:image/webp;base64,iVBORw0KGgo=" } },
          { type: "text", text: "look" },
        ],
      },
    ]);
  });

  test("alone where there is no text", () => {
    const [message] = sent([user(" \n", PNG)]);
    expect(message?.["content"]).toEqual([expect.objectContaining({ type: "image_url" })]);
  });

  test("and the texts around them in their order when messages of the user become one", () => {
    const types = (content: unknown) =>
      (content as { type: string; text?: string }[]).map((p) => p.text ?? p.type);
    const [message, ...others] = sent([user("a"), user("b", PNG), user(""), user("c")]);
    expect(others).toEqual([]);
    expect(types(message?.["content"])).toEqual(["a", "image_url", "b", "c"]);
  });
});

describe("encodeRequest() puts images of results", () => {
  const picture = (id: string, ...images: readonly Image[]): ChatMessage => ({
    role: "tool",
    toolCallId: id,
    name: "read_file",
    content: "a picture",
    images,
  });
  const part = (data: string) => ({ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } });
  const label = (text: string) => ({ type: "text", text });
  const [A, B, C] = ["AAAA", "BBBB", "CCCC"].map((data): Image => ({ ...PNG, data })) as [
    Image,
    Image,
    Image,
  ];

  test("behind the last result of their reply, as a message of the user that says whose they are", () => {
    const messages = [user("a"), calls([call("x"), call("y"), call("z")])];
    const results = [picture("x", A, B), result("y"), picture("z", C)];
    expect(sent([...messages, ...results, calls([call("w")]), result("w")]).slice(2)).toEqual([
      { role: "tool", tool_call_id: "x", content: "a picture" },
      { role: "tool", tool_call_id: "y", content: "ok" },
      { role: "tool", tool_call_id: "z", content: "a picture" },
      {
        role: "user",
        content: [
          label("Images from read_file (call x):"),
          part("AAAA"),
          part("BBBB"),
          label("Image from read_file (call z):"),
          part("CCCC"),
        ],
      },
      expect.objectContaining({ role: "assistant" }),
      { role: "tool", tool_call_id: "w", content: "ok" },
    ]);
  });

  test("into one message with what the user says next, which begins as it did without that", () => {
    const cutOff = [user("a"), calls([call("x")]), picture("x", A)];
    const next = [user("b", B), user("c")];
    const [before, after] = [textOf({ messages: cutOff }), textOf({ messages: [...cutOff, ...next] })];
    expect(sent([...cutOff, ...next]).slice(3)).toEqual([
      {
        role: "user",
        content: [
          label("Image from read_file (call x):"),
          part("AAAA"),
          part("BBBB"),
          label("b"),
          label("c"),
        ],
      },
    ]);
    const conversation = before.slice(0, before.indexOf("]}],"));
    expect(conversation).toContain("AAAA");
    expect(after.startsWith(`${conversation},`)).toBe(true);
  });

  test("behind a word of the model where its server wants one between results and the user", () => {
    const quirks = { noUserAfterTool: true, shortCallIds: true };
    const messages = [user("a"), calls([call("call_1")]), picture("call_1", A), user("b")];
    const { messages: wire } = bodyOf({ messages, tools: TOOLS }, quirks);
    const id = String(wire[2]?.["tool_call_id"]);
    expect(wire.slice(3)).toEqual([
      { role: "assistant", content: "(the images follow)" },
      { role: "user", content: [label(`Image from read_file (call ${id}):`), part("AAAA"), label("b")] },
    ]);
    const text = textOf({ messages, tools: TOOLS }, { ...quirks, noStreamOptions: true });
    expect(checkRequest(text, { vendor: "mistral" })).toBeUndefined();
  });

  test("with the marker of what to cache on a text, since images bear none", () => {
    const messages = [user("a"), calls([call("x")]), picture("x", A)];
    const text = textOf({ messages, tools: TOOLS, model: "anthropic/claude" }, { cacheMarkers: true });
    expect(checkRequest(text, { vendor: "anthropicViaOpenrouter" })).toBeUndefined();
    expect((JSON.parse(text) as Body).messages.at(-1)?.["content"]).toEqual([
      { ...label("Image from read_file (call x):"), cache_control: { type: "ephemeral" } },
      part("AAAA"),
    ]);
  });

  test("as the strictest take them, and with the same bytes each time", () => {
    const messages = [user("a"), calls([call("x"), call("y")]), picture("x", A), result("y")];
    const text = textOf({ messages, tools: TOOLS });
    expect(checkRequest(text, { strictKeys: true })).toBeUndefined();
    expect(textOf({ messages: structuredClone(messages), tools: TOOLS })).toBe(text);
    expect(textOf({ messages, tools: TOOLS })).toBe(text);
  });

  test("by the short ids that the calls of this very request have", () => {
    // 9 letters and digits are the id itself, so the first of two calls decides what the second is called.
    const other = createShortCallIds([call("a long id")]).of("a long id");
    const results = [picture("a long id", A)];
    const moved = [user("a"), calls([call(other)]), result(other), calls([call("a long id")]), ...results];
    const alone = [user("a"), calls([call("a long id")]), ...results];
    const idIn = (messages: readonly ChatMessage[]) => {
      const wire = sent(messages, { shortCallIds: true });
      expect(JSON.stringify(wire.at(-1))).toContain(`(call ${wire.at(-2)?.["tool_call_id"]})`);
      return wire.at(-2)?.["tool_call_id"];
    };
    expect(idIn(alone)).toBe(other);
    expect(idIn(moved)).not.toBe(other);
    expect(idIn(alone)).toBe(other);
  });
});

describe("encodeRequest() leaves out", () => {
  test("messages that say nothing, and joins what they kept apart", () => {
    const messages: ChatMessage[] = [
      { role: "system", content: " " },
      user("a"),
      { role: "assistant", content: " \n" },
      user("b"),
    ];
    expect(sent(messages)).toEqual([{ role: "user", content: "a\n\nb" }]);
  });

  test("answers at the end", () => {
    expect(sent([user("a"), { role: "assistant", content: "x" }, user(" ")])).toEqual([
      { role: "user", content: "a" },
    ]);
  });

  test("what is only for us: names, models and thinking blocks", () => {
    const text = textOf({
      messages: [
        user("a", PNG),
        calls([call("x", { google: { thought_signature: "SIGNED" } })], {
          model: "WRITER",
          reasoningContent: "REASONED",
          thinkingBlocks: ["BLOCK"],
        }),
        { role: "tool", toolCallId: "x", name: "TOOLNAME", content: "ok" },
      ],
    });
    expect(text).not.toMatch(/WRITER|REASONED|BLOCK|TOOLNAME|SIGNED|a\.png/);
  });

  test("the emptiness of a result", () => {
    expect(sent([user("a"), calls([call("x")]), result("x", " \n")]).at(-1)?.["content"]).toBe("(empty)");
  });
});

describe("encodeRequest() sends the content of a reply that only calls", () => {
  const messages = [user("a"), calls([call("x")], { content: " " }), result("x")];

  test('as "" unless the server wants null', () => {
    expect(sent(messages)[1]?.["content"]).toBe("");
    expect(sent(messages, { nullContent: true })[1]?.["content"]).toBeNull();
  });

  test("as it is where there is text", () => {
    const spoken = [user("a"), calls([call("x")], { content: "let me see" }), result("x")];
    expect(sent(spoken, { nullContent: true })[1]?.["content"]).toBe("let me see");
  });

  test("behind the text of the reply before it", () => {
    const two: ChatMessage[] = [
      user("a"),
      { role: "assistant", content: "so" },
      calls([call("x")]),
      result("x"),
    ];
    expect(sent(two, { nullContent: true })[1]).toMatchObject({ content: "so", tool_calls: [{ id: "x" }] });
  });
});

describe("encodeRequest() sends a forced tool", () => {
  const request = { tools: TOOLS, toolChoice: { name: "exec" } };

  test("as such, or as auto where it cannot be forced", () => {
    expect(bodyOf(request)["tool_choice"]).toEqual({ type: "function", function: { name: "exec" } });
    expect(bodyOf(request, { noForcedTool: true })["tool_choice"]).toBe("auto");
  });

  test("never as a choice without tools", () => {
    expect(bodyOf({ toolChoice: { name: "exec" } })).not.toContainAnyKeys(["tool_choice", "tools"]);
  });

  test("beside the wish for no tool at all, which stays", () => {
    expect(bodyOf({ tools: TOOLS, toolChoice: "none" }, { noForcedTool: true })["tool_choice"]).toBe("none");
  });
});

describe("encodeRequest() with shortCallIds", () => {
  const quirks = { shortCallIds: true };
  const idsIn = (messages: Body["messages"]) =>
    messages.flatMap((message) => [
      ...((message["tool_calls"] ?? []) as { id: string }[]).map(({ id }) => id),
      ...(message["tool_call_id"] === undefined ? [] : [String(message["tool_call_id"])]),
    ]);

  test("gives calls and their results the same ids of 9 letters and digits", () => {
    const messages = [
      user("a"),
      calls([call("call_1"), call("toolu_01ABC-x")]),
      result("call_1"),
      result("toolu_01ABC-x"),
    ];
    const [one, two, ...results] = idsIn(sent(messages, quirks));
    expect([one, two].every((id) => /^[a-zA-Z0-9]{9}$/.test(id ?? ""))).toBe(true);
    expect(one).not.toBe(two);
    expect(results).toEqual([one, two] as string[]);
  });

  test("keeps ids that have the form", () => {
    expect(idsIn(sent([user("a"), calls([call("D681PevKs")]), result("D681PevKs")], quirks))).toEqual([
      "D681PevKs",
      "D681PevKs",
    ]);
  });

  test("moves the later of two that would be the same, whatever was sent before", () => {
    const before = [user("a"), calls([call("call_1")]), result("call_1")];
    const [short = ""] = idsIn(sent(before, quirks));
    const own = { ...noQuirks, ...quirks };
    const encode = (messages: readonly ChatMessage[]) =>
      idsIn(
        (
          JSON.parse(
            new TextDecoder().decode(
              encodeRequest({ model: "m", messages, tools: [], toolChoice: "auto", maxTokens: 1 }, own, {}),
            ),
          ) as Body
        ).messages,
      );
    const twin = [calls([call(short)]), result(short)];
    expect(encode([user("b"), ...twin])).toEqual([short, short]);
    const [first, , second, answer] = encode([...before, ...twin]);
    expect(first).toBe(short);
    expect(second).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(second).not.toBe(short);
    expect(answer).toBe(second);
    expect(encode([user("b"), ...twin])).toEqual([short, short]);
  });

  test("spreads ids that hardly differ", () => {
    const many = Array.from({ length: 200_000 }, (_, index) => call(`call_lz3k9q_${index}`));
    const ids = createShortCallIds(many);
    expect(many.filter(({ id }) => ids.isMoved(id))).toEqual([]);
  });

  test("gives any ids that differ ids that differ, which more ids do not change", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: "binary", minLength: 1 }), { minLength: 1 }), (ids) => {
        const turn = (some: readonly string[]) => [
          user("a"),
          calls(some.map((id) => call(id))),
          ...some.map((id) => result(id)),
        ];
        const all = idsIn(sent(turn(ids), quirks)).slice(0, ids.length);
        expect(new Set(all).size).toBe(ids.length);
        expect(all.every((id) => /^[a-zA-Z0-9]{9}$/.test(id))).toBe(true);
        const fewer = ids.slice(0, -1);
        expect(idsIn(sent(turn(fewer), quirks)).slice(0, fewer.length)).toEqual(all.slice(0, -1));
      }),
    );
  });
});

test("encodeRequest() with noUserAfterTool puts a reply between a result and the user", () => {
  const messages = [user("a"), calls([call("x")]), result("x"), user("b")];
  expect(sent(messages, { noUserAfterTool: true }).map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
  ]);
  expect(sent(messages)).toHaveLength(4);
});

describe("encodeRequest() with replayReasoning", () => {
  const quirks = { replayReasoning: true };

  test("sends the reasoning of replies back, and something in its place beside calls", () => {
    const messages: ChatMessage[] = [
      user("a"),
      calls([call("x")], { reasoningContent: "think" }),
      result("x"),
      calls([call("y")]),
      result("y"),
      { role: "assistant", content: "b", reasoningContent: "hm" },
      user("c"),
      { role: "assistant", content: "d" },
      user("e"),
    ];
    const reasoning = sent(messages, quirks)
      .filter(({ role }) => role === "assistant")
      .map((message) => message["reasoning_content"]);
    // Moonshot takes an empty one for a missing one.
    expect(reasoning).toEqual(["think", " ", "hm", undefined]);
  });
});

describe("encodeRequest() with thoughtSignatures", () => {
  const quirks = { thoughtSignatures: true };
  const signed = { google: { thought_signature: "c2ln" } };
  const extrasOf = (...toolCalls: readonly ToolCall[]) => {
    const messages = [user("a"), calls(toolCalls), ...toolCalls.map(({ id }) => result(id))];
    const wire = sent(messages, quirks)[1]?.["tool_calls"] as { extra_content?: unknown }[];
    return wire.map((one) => one.extra_content);
  };

  test("gives signatures back word for word", () => {
    const other = { google: { thought_signature: "b3RoZXI=", more: 1 }, x: [null] };
    expect(extrasOf(call("x", signed), call("y"), call("z", other))).toEqual([signed, undefined, other]);
  });

  test("gives the first call of a reply the documented stand-in where it has none", () => {
    const standIn = { google: { thought_signature: "skip_thought_signature_validator" } };
    expect(extrasOf(call("x"), call("y"))).toEqual([standIn, undefined]);
    expect(extrasOf(call("x", { google: {} }))).toEqual([standIn]);
  });
});

describe("encodeRequest() with cacheMarkers", () => {
  const quirks = { cacheMarkers: true };
  const MARK = { type: "ephemeral" };
  const conversation: ChatMessage[] = [
    { role: "system", content: "s" },
    user("a"),
    calls([call("x")]),
    result("x"),
    { role: "assistant", content: "b" },
    user("c", PNG),
  ];
  const marked = (model: string, messages = conversation) =>
    bodyOf({ model, messages, tools: TOOLS }, quirks);

  test("marks the system prompt, the last two messages that ask, and the last tool", () => {
    const { messages, tools } = marked("anthropic/claude-sonnet-5-5");
    const last = (content: unknown) => (content as { cache_control?: unknown }[]).at(-1)?.cache_control;
    const marks = messages.map(({ content }) => (Array.isArray(content) ? last(content) : undefined));
    expect(marks).toEqual([MARK, undefined, undefined, MARK, undefined, MARK]);
    expect(tools?.map((tool) => tool["cache_control"])).toEqual([undefined, MARK]);
    const text = textOf({ model: "claude", messages: conversation, tools: TOOLS }, quirks);
    expect(text.match(/cache_control/g)).toHaveLength(4);
    expect(checkRequest(text, { vendor: "anthropicViaOpenrouter", strictKeys: true })).toBeUndefined();
  });

  test("marks the last part of messages that became one", () => {
    const { messages } = marked("claude", [user("a"), user("b")]);
    expect(messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b", cache_control: MARK },
        ],
      },
    ]);
  });

  test.each(["openai/gpt-5", "google/gemini-3", "my-anthropic"])("marks nothing for %s", (model) => {
    expect(JSON.stringify(marked(model))).not.toContain("cache_control");
  });

  test("marks nothing where it is no quirk", () => {
    const request = { model: "anthropic/claude-sonnet-5-5", messages: conversation, tools: TOOLS };
    expect(textOf(request)).not.toContain("cache_control");
  });
});

describe("encodeRequest() says the effort", () => {
  const asked = (reasoningEffort: string | undefined, quirks: Partial<Quirks>, model = "m") => {
    const effort = reasoningEffort === undefined ? {} : { reasoningEffort };
    const body = bodyOf({ model, ...effort }, quirks);
    const { model: _, messages: __, max_tokens: ___, stream: ____, stream_options: _____, ...rest } = body;
    return rest;
  };

  test.each([
    ["effort", "none", { reasoning_effort: "none" }],
    ["effort", "minimal", { reasoning_effort: "minimal" }],
    ["effort", "low", { reasoning_effort: "low" }],
    ["effort", "medium", { reasoning_effort: "medium" }],
    ["effort", "high", { reasoning_effort: "high" }],
    ["effort", "xhigh", { reasoning_effort: "xhigh" }],
    ["effort", "max", { reasoning_effort: "xhigh" }],
    ["effort", "adaptive", {}],
    ["reasoning", "none", { reasoning: { effort: "none" } }],
    ["reasoning", "high", { reasoning: { effort: "high" } }],
    ["reasoning", "max", { reasoning: { effort: "xhigh" } }],
    ["reasoning", "adaptive", { reasoning: { enabled: true } }],
    ["thinkingType", "none", { thinking: { type: "disabled" } }],
    ["thinkingType", "minimal", { thinking: { type: "disabled" } }],
    ["thinkingType", "low", { thinking: { type: "enabled" } }],
    ["thinkingType", "adaptive", { thinking: { type: "enabled" } }],
    ["enableThinking", "none", { enable_thinking: false }],
    ["enableThinking", "high", { enable_thinking: true }],
    ["split", "high", { reasoning_split: true }],
    ["split", "none", {}],
    ["none", "high", {}],
  ] as const)("%s %s", (thinking, effort, expected) => {
    expect(asked(effort, { thinking })).toEqual(expected);
  });

  test.each(["effort", "reasoning", "thinkingType", "enableThinking", "split", "none"] as const)(
    "%s not at all where none is configured",
    (thinking) => {
      expect(asked(undefined, { thinking })).toEqual({});
    },
  );

  test.each([
    ["mistral-small-latest", "low", { reasoning_effort: "high" }],
    ["mistralai/mistral-medium-3-5", "minimal", { reasoning_effort: "none" }],
    ["devstral-2", "none", { reasoning_effort: "none" }],
    ["magistral-medium-latest", "high", {}],
    ["not-mistral", "low", { reasoning_effort: "low" }],
  ])("to %s, %s", (model, effort, expected) => {
    expect(asked(effort, {}, model)).toEqual(expected);
  });
});

describe("encodeRequest() limits the reply", () => {
  const limits = (model: string, completionTokens: Quirks["completionTokens"]) =>
    Object.keys(bodyOf({ model }, { completionTokens })).filter((key) => key.startsWith("max_"));

  test.each([
    ["gpt-5.4", "byModel", "max_completion_tokens"],
    ["moonshotai/kimi-k3", "byModel", "max_completion_tokens"],
    ["gpt-4o", "byModel", "max_tokens"],
    ["gpt-4o", true, "max_completion_tokens"],
    ["gpt-5.4", false, "max_tokens"],
  ] as const)("of %s, told %p, by %s", (model, completionTokens, key) => {
    expect(limits(model, completionTokens)).toEqual([key]);
  });
});

describe("encodeRequest() as a whole", () => {
  test("takes the user's own fields over its own", () => {
    const body = bodyOf({ tools: TOOLS }, {}, { max_tokens: 7, top_k: 3, model: "o" });
    expect(body).toMatchObject({ max_tokens: 7, top_k: 3, model: "o" });
  });

  test("is valid whatever text there is", () => {
    fc.assert(
      fc.property(anyText, anyText, (one, other) => {
        const text = textOf(
          {
            messages: [
              { role: "system", content: `s${one}` },
              user(`u${one}`, PNG),
              calls([call("x")], { content: other, reasoningContent: other }),
              result("x", other),
              user(other),
              user(one),
              user("end"),
            ],
            tools: TOOLS,
          },
          { replayReasoning: true },
        );
        expect(checkRequest(text, { strictKeys: true, vendor: "moonshot" })).toBeUndefined();
      }),
    );
  });

  test("gives other quirks other bytes, though the messages are the same objects", () => {
    const messages = [user("a"), calls([call("x")]), result("x")];
    expect(sent(messages)[1]?.["content"]).toBe("");
    expect(sent(messages, { nullContent: true })[1]?.["content"]).toBeNull();
    expect(sent(messages)[1]?.["content"]).toBe("");
  });

  test("sees that messages that are one have changed", () => {
    const [a, b, c, d] = [user("a"), user("b"), user("c"), user("d")] as const;
    const quirks = { ...noQuirks };
    const encode = (messages: readonly ChatMessage[]) =>
      new TextDecoder().decode(
        encodeRequest({ model: "m", messages, tools: [], toolChoice: "auto", maxTokens: 1 }, quirks, {}),
      );
    expect(encode([a, b, d])).toContain("a\\n\\nb\\n\\nd");
    expect(encode([a, c, d])).toContain("a\\n\\nc\\n\\nd");
    expect(encode([d])).toContain('"d"');
    expect(encode([a, d])).toContain("a\\n\\nd");
  });
});

import { describe, expect, test } from "bun:test";
import { type AnthropicRules, checkMessagesRequest } from "./anthropic-rules.ts";
import { startAnthropicServer } from "./anthropic-server.ts";

const text = (content: string) => ({ type: "text", text: content });
const user = (...content: object[]) => ({ role: "user", content });
const assistant = (...content: object[]) => ({ role: "assistant", content });
const use = (id: string, name = "exec") => ({ type: "tool_use", id, name, input: {} });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "ok" });
const thought = (thinking: string) => ({ type: "thinking", thinking, signature: "s" });
const redacted = (data: string) => ({ type: "redacted_thinking", data });
const image = (media_type: string, data = "AAAA") => ({
  type: "image",
  source: { type: "base64", media_type, data },
});
const tool = (name: string, schema: object = { type: "object" }) => ({ name, input_schema: schema });
const EPHEMERAL = { type: "ephemeral" };
const mark = { cache_control: EPHEMERAL };
const budget = (budget_tokens: number) => ({ type: "enabled", budget_tokens });

const GIVEN = { signed: new Map([["s", "hm"]]), redacted: new Set(["r"]) };

const BODY = { model: "m", max_tokens: 2048, messages: [user(text("hi"))] };

function refusal(changes: object, rules: AnthropicRules = {}): string | undefined {
  return checkMessagesRequest(JSON.stringify({ ...BODY, ...changes }), rules, GIVEN);
}
const refusalOf = (...messages: object[]) => refusal({ messages });

describe("checkMessagesRequest()", () => {
  test("takes what is documented", () => {
    expect(refusal({})).toBeUndefined();
    expect(
      refusal({
        system: [{ ...text("s"), ...mark }],
        tools: [{ ...tool("exec"), ...mark }],
        tool_choice: { type: "auto" },
        thinking: budget(1024),
        temperature: 1,
        messages: [
          user(text("a")),
          user({ ...text("b"), ...mark }),
          assistant(thought("hm"), redacted("r"), use("x".repeat(64))),
          user({ ...result("x".repeat(64)), is_error: true, ...mark }, image("image/webp"), text("c")),
        ],
      }),
    ).toBeUndefined();
    expect(refusal({ thinking: { type: "adaptive" }, output_config: { effort: "xhigh" } })).toBeUndefined();
  });

  test.each<[string, string | undefined, RegExp]>([
    ["no messages", refusalOf(), /at least one/],
    ["a first message that is not the user's", refusalOf(assistant(text("a"))), /first message/],
    ["an empty text", refusalOf(user(text(""))), /non-empty/],
    ["a blank text", refusalOf(user(text(" \n"))), /non-whitespace/],
    ["no content", refusalOf(user()), /non-empty content/],
    ["an unknown role", refusalOf(user(text("a")), { role: "tool", content: [] }), /Unexpected role/],
    [
      "an image in a result that is marked as an error",
      refusalOf(
        user(text("a")),
        assistant(use("a")),
        user({ ...result("a"), content: [text("e"), image("image/png")], is_error: true }),
      ),
      /must be type "text"/,
    ],
    [
      "an unknown key in a result",
      refusalOf(
        user(text("a")),
        assistant(use("a")),
        user({ ...result("a"), content: [{ ...text("e"), ...mark }] }),
      ),
      /Extra inputs/,
    ],
    ["an unknown block", refusalOf(user({ type: "hologram" })), /not known/],
    ["an unknown key", refusal({ reasoning_effort: "low" }), /Extra inputs/],
    ["an unknown key of a block", refusalOf(user({ ...text("a"), name: "b" })), /Extra inputs/],
    ["an unknown key of a message", refusalOf({ ...user(text("a")), name: "b" }), /Extra inputs/],
    ["an unknown key of a tool", refusal({ tools: [{ ...tool("a"), parameters: {} }] }), /Extra inputs/],
    [
      "an unknown key of a marker",
      refusalOf(user({ ...text("a"), cache_control: { ...EPHEMERAL, at: 1 } })),
      /Extra/,
    ],
    ["an unknown marker", refusalOf(user({ ...text("a"), cache_control: { type: "eternal" } })), /ephemeral/],
    ["an unknown key of thinking", refusal({ thinking: { ...budget(1024), effort: "low" } }), /Extra inputs/],
    [
      "a budget of what is adaptive",
      refusal({ thinking: { ...budget(1024), type: "adaptive" } }),
      /Extra inputs/,
    ],
    [
      "an unknown key of a choice",
      refusal({ tools: [tool("a")], tool_choice: { type: "auto", name: "a" } }),
      /Extra/,
    ],
    ["an unknown effort", refusal({ output_config: { effort: "minimal" } }), /output_config\.effort/],
    ["an unknown key of the output", refusal({ output_config: { level: "low" } }), /Extra inputs/],
    ["an image of another type", refusalOf(user(image("image/bmp"))), /media_type/],
    ["an image that is no base64", refusalOf(user(image("image/png", "AAA"))), /invalid base64/],
    ["an image without bytes", refusalOf(user(image("image/png", ""))), /invalid base64/],
    [
      "an image of the assistant",
      refusalOf(user(text("a")), assistant(image("image/png"))),
      /assistant messages/,
    ],
    ["a call of the user", refusalOf(user(use("1"))), /user messages/],
    [
      "redacted thinking of somebody else",
      refusalOf(user(text("a")), assistant(redacted("other"), text("b"))),
      /Invalid `data`/,
    ],
    [
      "an id of more than 64 characters",
      refusalOf(user(text("a")), assistant(use("x".repeat(65))), user(result("x".repeat(65)))),
      /pattern/,
    ],
    [
      "a flag that is none",
      refusalOf(user(text("a")), assistant(use("1")), user({ ...result("1"), is_error: 1 })),
      /is_error/,
    ],
    ["no limit", refusal({ max_tokens: undefined }), /max_tokens/],
    ["a limit above the model's", refusal({ max_tokens: 100_000 }), /100000 > 64000/],
    ["a call without a result", refusalOf(user(text("a")), assistant(use("1")), user(text("b"))), /without/],
    ["a call at the end", refusalOf(user(text("a")), assistant(use("1"))), /without/],
    [
      "a result behind text",
      refusalOf(user(text("a")), assistant(use("1")), user(text("b"), result("1"))),
      /come first/,
    ],
    ["a result of nothing", refusalOf(user(result("1"))), /unexpected `tool_use_id`/],
    [
      "an id that comes twice",
      refusalOf(
        user(text("a")),
        assistant(use("1")),
        user(result("1")),
        assistant(use("1")),
        user(result("1")),
      ),
      /unique/,
    ],
    ["an id with a dot", refusalOf(user(text("a")), assistant(use("a.b")), user(result("a.b"))), /pattern/],
    [
      "a name with a dot",
      refusalOf(user(text("a")), assistant(use("1", "a.b")), user(result("1"))),
      /pattern/,
    ],
    ["a tool with a bad name", refusal({ tools: [tool("a.b")] }), /pattern/],
    ["a tool that comes twice", refusal({ tools: [tool("a"), tool("a")] }), /unique/],
    [
      "a choice at the top of a schema",
      refusal({ tools: [tool("a", { type: "object", anyOf: [] })] }),
      /top/,
    ],
    ["a choice without tools", refusal({ tool_choice: { type: "auto" } }), /while providing tools/],
    ["blank text at the end", refusalOf(user(text("a")), assistant(text("b "))), /trailing whitespace/],
    [
      "thinking that was changed",
      refusalOf(user(text("a")), assistant(thought("x"), text("b"))),
      /signature/,
    ],
    ["a budget below the least", refusal({ thinking: budget(1023) }), /1024/],
    ["a budget as large as the limit", refusal({ thinking: budget(2048) }), /greater than/],
    ["a temperature while it thinks", refusal({ thinking: budget(1024), temperature: 0.5 }), /set to 1/],
    ["a temperature above 1", refusal({ temperature: 1.5 }), /range/],
    [
      "a forced tool while it thinks",
      refusal({ thinking: budget(1024), tools: [tool("a")], tool_choice: { type: "tool", name: "a" } }),
      /forces tool use/,
    ],
    [
      "five markers",
      refusalOf(user(...Array.from({ length: 5 }, () => ({ ...text("a"), ...mark })))),
      /maximum of 4/,
    ],
    [
      "calls without the thinking before them",
      refusal({
        thinking: budget(1024),
        messages: [user(text("a")), assistant(use("1")), user(result("1"))],
      }),
      /must start with a thinking block/,
    ],
    ["a lone surrogate", refusalOf(user(text("\ud83d"))), /surrogates/],
    ["what is no JSON", checkMessagesRequest("{", {}), /not JSON/],
  ])("refuses %s", (_, message, pattern) => {
    expect(message ?? "").toMatch(pattern);
  });
});

test("startAnthropicServer() refuses requests without the key or the version", async () => {
  const server = await startAnthropicServer({ script: [], apiKey: "k" });
  const body = JSON.stringify(BODY);
  const statusFor = async (headers: Record<string, string>) =>
    (await fetch(`${server.url}/v1/messages`, { method: "POST", headers, body })).status;
  try {
    expect(await statusFor({ "anthropic-version": "2023-06-01" })).toBe(401);
    expect(await statusFor({ "x-api-key": "other", "anthropic-version": "2023-06-01" })).toBe(401);
    expect(await statusFor({ "x-api-key": "k" })).toBe(400);
    expect(server.invalid).toEqual([
      "x-api-key header is required",
      "invalid x-api-key",
      "anthropic-version: header is required",
    ]);
  } finally {
    await server.close();
  }
});

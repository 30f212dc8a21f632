import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest } from "../../../src/core/model.ts";
import { quirksOf } from "../../../src/providers/anthropic/quirks.ts";
import { encodeAnthropic } from "../../../src/providers/anthropic/request.ts";
import {
  answerOf,
  call,
  calling,
  connect,
  messageOf,
  requestOf,
  result,
  sentFor,
  serve,
  TOOL,
  user,
} from "./fixture.ts";

describe("chat() asks for thinking", () => {
  const thought = {
    role: "assistant",
    content: "",
    thinkingBlocks: [
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "hologram" },
      { type: "redacted_thinking", data: "d" },
    ],
    toolCalls: [call("a")],
  } as const satisfies ChatMessage;

  function bodyFor(request: Partial<ChatRequest>) {
    const whole = requestOf(request);
    const { body } = encodeAnthropic(whole, {
      quirks: quirksOf(whole.model),
      mayReplay: () => true,
      extraBody: {},
    });
    return JSON.parse(new TextDecoder().decode(body));
  }

  test.each([
    ["minimal", 1000, 1024, 5120],
    ["low", 1000, 1024, 5120],
    ["medium", 1000, 4096, 8192],
    ["medium", 20_000, 4096, 20_000],
    ["high", 1000, 8192, 12_288],
    ["xhigh", 10_000, 10_000, 14_096],
    ["max", 10_000, 10_000, 14_096],
  ])("with the budget of %s effort and %d tokens", async (reasoningEffort, maxTokens, budget, limit) => {
    const { body } = await sentFor({ reasoningEffort, maxTokens, temperature: 0.1 });
    expect(body).toMatchObject({
      thinking: { type: "enabled", budget_tokens: budget },
      max_tokens: limit,
    });
    expect(body).not.toContainKey("temperature");
  });

  test.each([undefined, "none", "whatever"])("not at all when the effort is %p", async (effort) => {
    const { body } = await sentFor({
      temperature: 1.5,
      ...(effort === undefined ? {} : { reasoningEffort: effort }),
    });
    expect(body).not.toContainKey("thinking");
    expect(body).toMatchObject({ max_tokens: 1000, temperature: 1 });
  });

  test("as the model likes when the effort is adaptive", async () => {
    const { body } = await sentFor({ reasoningEffort: "adaptive", temperature: 0.1 });
    expect(body["thinking"]).toEqual({ type: "adaptive" });
    expect(body).not.toContainAnyKeys(["temperature", "output_config"]);
  });

  test("not when a tool is forced", async () => {
    const request = { tools: [TOOL], toolChoice: { name: "exec" }, reasoningEffort: "high" };
    expect((await sentFor(request)).body).not.toContainKey("thinking");
  });

  test("not in the middle of a turn that began without", async () => {
    const messages = [user("a"), calling(call("1")), result("1")];
    expect((await sentFor({ messages, reasoningEffort: "high" })).body).not.toContainKey("thinking");
  });

  test.each(["claude-opus-4-7", "claude-opus-5-20260701", "claude-sonnet-5.5", "anthropic.claude-fable-5"])(
    "by an effort, and without a temperature, from %s",
    (model) => {
      const body = bodyFor({ model, reasoningEffort: "xhigh", temperature: 0.1 });
      expect(body).toMatchObject({ thinking: { type: "adaptive" }, output_config: { effort: "xhigh" } });
      expect(bodyFor({ model, temperature: 0.1 })).not.toContainKey("temperature");
    },
  );

  test.each([
    "claude-3-7-sonnet-20250219",
    "claude-sonnet-4-20250514",
    "claude-opus-4-6",
    "claude-opus-4-5@20251101",
    "MiniMax-M3",
  ])("by a budget, or with a temperature, from %s", (model) => {
    const thinking = { type: "enabled", budget_tokens: 1024 };
    expect(bodyFor({ model, reasoningEffort: "low" })).toMatchObject({ thinking });
    expect(bodyFor({ model, temperature: 0.1 })).toMatchObject({ temperature: 0.1 });
  });

  test("to be off where it is on unasked and can be off", () => {
    expect(bodyFor({ model: "claude-sonnet-5", reasoningEffort: "none" }).thinking).toEqual({
      type: "disabled",
    });
    expect(bodyFor({ model: "claude-opus-5-5", reasoningEffort: "none" })).not.toContainKey("thinking");
  });

  test("with room to answer from models that think unasked", () => {
    expect(bodyFor({ model: "claude-sonnet-5-5" }).max_tokens).toBe(12_288);
    expect(bodyFor({ model: "claude-sonnet-5-5", maxTokens: 20_000 }).max_tokens).toBe(20_000);
    expect(bodyFor({ model: "claude-sonnet-5", reasoningEffort: "none" }).max_tokens).toBe(1000);
  });

  test("and gives it back word for word, in front of the text", async () => {
    const server = await serve((_, index) =>
      index === 0
        ? {
            blocks: [
              { thinking: ["h", "m"], signature: "s" },
              { redacted: "d" },
              { text: "Look" },
              { tool: "exec", id: "a" },
            ],
          }
        : { text: "ok" },
    );
    const { ask } = connect(server.url);
    const first = messageOf(answerOf(await ask({ reasoningEffort: "low", tools: [TOOL] })));
    const messages = [user("hi"), first, result("a")];
    expect(await ask({ messages, reasoningEffort: "low", tools: [TOOL] })).toMatchObject({ ok: true });
    expect(server.invalid).toEqual([]);
    expect(JSON.stringify(server.requests[1]?.body["messages"])).toContain(
      '[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"d"},' +
        '{"type":"text","text":"Look"},{"type":"tool_use"',
    );
  });

  const blockTypes = (request: Partial<ChatRequest>) =>
    bodyFor({ messages: [user("a"), thought, result("a")], ...request }).messages[1].content.map(
      ({ type }: { type: string }) => type,
    );

  test("and gives back nothing else that is opaque", () => {
    expect(blockTypes({ reasoningEffort: "low" })).toEqual(["thinking", "redacted_thinking", "tool_use"]);
  });

  test("and gives nothing back to a model that does not think", () => {
    expect(blockTypes({})).toEqual(["tool_use"]);
    expect(blockTypes({ reasoningEffort: "none", model: "claude-sonnet-5" })).toEqual(["tool_use"]);
    expect(blockTypes({ reasoningEffort: "low", tools: [TOOL], toolChoice: { name: "exec" } })).toEqual([
      "tool_use",
    ]);
  });

  test("and gives it back to a model that thinks unasked", () => {
    for (const model of ["claude-sonnet-5", "claude-opus-5-5", "kimi-k3"]) {
      expect(blockTypes({ model })).toEqual(["thinking", "redacted_thinking", "tool_use"]);
    }
  });

  test.each([
    ["anthropic/claude-opus-4-5", false],
    ["other/claude-sonnet-4-5", false],
    ["anthropic/claude-sonnet-4-5", true],
  ])("and, when %s thought it, gives it back: %p", async (model, expected) => {
    const server = await serve((_, index) =>
      index === 0 ? { blocks: [{ thinking: "hm", signature: "s" }, { text: "a" }] } : { text: "ok" },
    );
    const { ask } = connect(server.url);
    const first = messageOf(answerOf(await ask({ reasoningEffort: "low" })));
    await ask({ reasoningEffort: "low", messages: [user("a"), { ...first, model }, user("b")] });
    expect(server.invalid).toEqual([]);
    expect(server.requests[1]?.text.includes('"signature"')).toBe(expected);
  });
});

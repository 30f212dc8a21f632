import { describe, expect, test } from "bun:test";
import type { ChatReply, ChatRequest } from "../../../src/core/model.ts";
import { createTokenScale } from "../../../src/lib/token-scale.ts";
import type { ModelCall } from "../../../src/providers/resilient/resilient.ts";
import { promptTokens, usedBy } from "../../../src/providers/resilient/used.ts";
import { createFakeModel } from "../../fakes/model.ts";

const request: ChatRequest = {
  model: "m",
  messages: [{ role: "user", content: "word ".repeat(100) }],
  tools: [],
  toolChoice: "auto",
  maxTokens: 1,
};
const call = (reply: ChatReply): ModelCall => ({
  candidate: { provider: "p", name: "m", open: async () => createFakeModel(), scale: createTokenScale() },
  request,
  reply,
  caller: undefined,
  latencyMs: 1,
});
const answer = { ok: true, content: "", toolCalls: [], finishReason: "stop" } as const;
const error = { kind: "transient", message: "down" } as const;

describe("usedBy()", () => {
  test("gives what the provider counted", () => {
    const usage = { input: 1, output: 2, cached: 0, reasoning: 0, cost: 0.5 };
    expect(usedBy(call({ ...answer, usage }))).toEqual({ usage, estimated: false });
  });

  test("guesses what the provider did not count: text, thoughts and calls", () => {
    const { usage, estimated } = usedBy(call({ ...answer, content: "word ".repeat(10) }));
    expect([usage.output, usage.input > 90, estimated]).toEqual([10, true, true]);
    const rich: ChatReply = {
      ...answer,
      content: "word ".repeat(10),
      reasoningContent: "word ".repeat(20),
      toolCalls: [{ id: "1", name: "echo", arguments: '{"text":"hello"}' }],
    };
    expect(usedBy(call(rich)).usage.output).toBeGreaterThan(30);
  });

  test("guesses for a failure after something had arrived", () => {
    const { usage, estimated } = usedBy(call({ ok: false, error, partial: "word ".repeat(10) }));
    expect([usage.output, usage.input > 90, estimated]).toEqual([10, true, true]);
  });

  test("counts nothing for a failure before anything arrived", () => {
    expect(usedBy(call({ ok: false, error, partial: "" }))).toEqual({
      usage: { input: 0, output: 0, cached: 0, reasoning: 0 },
      estimated: false,
    });
  });
});

test("promptTokens() counts messages and tools", () => {
  const tool = { name: "echo", description: "Says it again", parameters: { type: "object" } };
  expect(promptTokens({ ...request, tools: [tool] })).toBeGreaterThan(promptTokens(request) + 5);
});

import { describe, expect, test } from "bun:test";
import type { ChatFailure, ChatReply, ChatRequest } from "../../src/core/model.ts";
import type { ModelCall } from "../../src/core/usage.ts";
import { usedBy } from "../../src/usage/used.ts";

const request: ChatRequest = {
  model: "m",
  messages: [{ role: "user", content: "word ".repeat(100) }],
  tools: [],
  toolChoice: "auto",
  maxTokens: 1,
};
const call = (reply: ChatReply, thought = ""): ModelCall => ({
  provider: "p",
  model: "m",
  request,
  reply,
  thought,
  caller: undefined,
  latencyMs: 1,
});
const answer = { ok: true, content: "", toolCalls: [], finishReason: "stop" } as const;
const failure = (fields: Partial<ChatFailure> = {}): ChatFailure => ({
  ok: false,
  error: { kind: "transient", message: "down" },
  partial: "",
  ...fields,
});
const words = (count: number) => "word ".repeat(count);

describe("usedBy()", () => {
  test("gives what the provider counted", () => {
    const usage = { input: 1, output: 2, cached: 0, reasoning: 0, cost: 0.5 };
    expect(usedBy(call({ ...answer, content: words(50), usage }))).toEqual({ usage, estimated: false });
  });

  test("guesses what the provider did not count: text, thoughts and calls", () => {
    const { usage, estimated } = usedBy(call({ ...answer, content: words(10) }));
    expect([usage.output, usage.reasoning, usage.input > 90, estimated]).toEqual([10, 0, true, true]);
    const rich: ChatReply = {
      ...answer,
      content: words(10),
      reasoningContent: words(20),
      toolCalls: [{ id: "1", name: "echo", arguments: '{"text":"hello"}' }],
    };
    const guessed = usedBy(call(rich, words(20))).usage;
    expect(guessed.output).toBeGreaterThan(30);
    expect(guessed.output).toBeLessThan(40);
    expect(guessed.reasoning).toBe(20);
  });

  test("guesses for a failure after some text, or after nothing but thoughts", () => {
    const behindText = usedBy(call(failure({ partial: words(10) })));
    expect(behindText).toMatchObject({ usage: { output: 10, reasoning: 0 }, estimated: true });
    const behindThoughts = usedBy(call(failure(), words(300)));
    expect(behindThoughts).toMatchObject({ usage: { output: 300, reasoning: 300 }, estimated: true });
    for (const { usage } of [behindText, behindThoughts]) expect(usage.input).toBeGreaterThan(90);
  });

  test("guesses the prompt of a failure in the middle of a call, of which nothing was shown", () => {
    const { usage, estimated } = usedBy(call(failure({ started: true })));
    expect([usage.input > 90, usage.output, estimated]).toEqual([true, 0, true]);
  });

  test("keeps what had been counted for a failure", () => {
    const usage = { input: 120, output: 25, cached: 100, reasoning: 5 };
    expect(usedBy(call(failure({ usage, partial: words(30) })))).toEqual({ usage, estimated: false });
  });

  test("guesses only the output of a failure where the prompt alone had been counted", () => {
    const usage = { input: 120, output: 1, cached: 100, reasoning: 0 };
    expect(usedBy(call(failure({ usage, partial: words(30) }), words(200)))).toEqual({
      usage: { input: 120, output: 230, cached: 100, reasoning: 200 },
      estimated: true,
    });
  });

  test("counts nothing for a failure before anything arrived", () => {
    expect(usedBy(call(failure()))).toEqual({
      usage: { input: 0, output: 0, cached: 0, reasoning: 0 },
      estimated: false,
    });
  });
});

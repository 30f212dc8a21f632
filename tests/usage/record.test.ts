import { describe, expect, test } from "bun:test";
import type { InboundId } from "../../src/core/messages.ts";
import type { ModelCall } from "../../src/core/usage.ts";
import { toRecord } from "../../src/usage/record.ts";

const now = Date.parse("2026-11-30T09:00:00.000Z");
const prices = { "acme/large": { input: 1, output: 10 } };

function call(changes: Partial<ModelCall> = {}): ModelCall {
  return {
    provider: "acme",
    model: "large",
    request: { model: "large", messages: [], tools: [], toolChoice: "auto", maxTokens: 1 },
    reply: {
      ok: true,
      content: "hi",
      toolCalls: [],
      finishReason: "stop",
      usage: { input: 1_000_000, output: 100_000, cached: 0, reasoning: 7 },
    },
    thought: "",
    caller: { sessionKey: "cli:direct", origin: "cron", turn: "cli:1" as InboundId },
    latencyMs: 1_200,
    ...changes,
  };
}

describe("toRecord()", () => {
  test("says when and for whom a call was made, and what it used and cost", () => {
    expect(toRecord(call(), { prices, now })).toEqual({
      time: "2026-11-30T09:00:00.000Z",
      session: "cli:direct",
      origin: "cron",
      model: "large",
      provider: "acme",
      input: 1_000_000,
      output: 100_000,
      cached: 0,
      reasoning: 7,
      latency_ms: 1_200,
      cost: 2,
    });
  });

  test("takes a call that nobody put a name to for one of a chat", () => {
    expect(toRecord(call({ caller: undefined }), { prices, now })).toMatchObject({
      session: "",
      origin: "chat",
    });
  });

  test("has no cost where nobody knows the price", () => {
    expect(toRecord(call(), { prices: {}, now })).not.toHaveProperty("cost");
  });

  test("marks a failure, and what is a guess", () => {
    const error = { kind: "transient", message: "broken" } as const;
    expect(
      toRecord(call({ reply: { ok: false, error, partial: "Once upon" } }), { prices, now }),
    ).toMatchObject({ failed: true, estimated: true });
    const record = toRecord(call({ reply: { ok: false, error, partial: "" } }), { prices, now });
    expect(record).toMatchObject({ failed: true, input: 0, output: 0 });
    expect(record).not.toHaveProperty("estimated");
  });
});

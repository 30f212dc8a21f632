import { describe, expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import * as v from "valibot";
import { runLoop } from "../../src/agent/loop.ts";
import type { InboundId } from "../../src/core/messages.ts";
import type { Model } from "../../src/core/model.ts";
import { defineTool, toolOk } from "../../src/core/tool.ts";
import { promptTokens } from "../../src/lib/request-tokens.ts";
import { createTokenScale } from "../../src/lib/token-scale.ts";
import { noQuirks } from "../../src/providers/chat-completions/quirks.ts";
import { encodeRequest } from "../../src/providers/chat-completions/request.ts";
import { checkRequest, estimateTokens } from "../fakes/chat-rules.ts";
import { createTestToolbox, testRun } from "../fakes/toolbox.ts";

const WINDOW = 32_768;
const MAX_TOKENS = 4_096;
const STEPS = 200;

/** So many characters of `sample`, different each time. */
const fill = (sample: string, length: number, index: number) =>
  `${index} ${sample.repeat(Math.ceil(length / sample.length))}`.slice(0, length);

const prose = "The quick brown fox jumps over the lazy dog, and nobody in the village knows why. ";
const code = 'if (request.method !== "GET") {\n\treturn { "status": 405, "allow": ["GET"] };\n}\n';
const longWords = "abcdefg hijklmn opqrstu ";
const chinese = "敏捷的棕色狐狸跳过了懒狗，村里没有人知道为什么。";

interface Shape {
  /** Of the results and of the arguments. */
  readonly sample: string;
  readonly resultChars?: number;
  readonly argumentChars?: number;
  readonly callsAtOnce?: number;
  /** The provider tells what it counted. */
  readonly counts?: boolean;
}

/** A tool conversation with a server that refuses whatever breaks the protocol or its window. */
async function converse({
  sample,
  resultChars = 16_000,
  argumentChars = 20,
  callsAtOnce = 1,
  counts = true,
}: Shape) {
  const scale = createTokenScale();
  const violations: NonNullable<ReturnType<typeof checkRequest>>[] = [];
  let requests = 0;
  let steps = 0;
  let largest = 0;

  const model: Model = {
    provider: "strict",
    async chat(request) {
      requests++;
      const text = Buffer.from(encodeRequest(request, noQuirks, {})).toString();
      const violation = checkRequest(text, { strictKeys: true, contextWindow: WINDOW });
      if (violation !== undefined) {
        violations.push(violation);
        const kind = violation.code === "context_length_exceeded" ? "contextOverflow" : "badRequest";
        return { ok: false, error: { kind, message: violation.message }, partial: "" };
      }
      const input = estimateTokens(text);
      largest = Math.max(largest, input);
      if (counts) scale.learn(promptTokens(request), input);
      const done = steps >= STEPS;
      const toolCalls = done
        ? []
        : Array.from({ length: callsAtOnce }, (_, index) => ({
            id: `${steps}-${index}`,
            name: "look",
            arguments: JSON.stringify({ at: fill(sample, argumentChars, steps) }),
          }));
      steps++;
      return { ok: true, content: done ? "done" : "", toolCalls, finishReason: "stop" };
    },
  };

  let looked = 0;
  const look = defineTool({
    name: "look",
    description: "Looks",
    readOnly: true,
    parameters: v.strictObject({ at: v.string() }),
    execute: async () => toolOk(fill(sample, resultChars, ++looked)),
  });
  let stored = 0;
  const result = await runLoop(
    {
      turn: "cli:1" as InboundId,
      messages: [
        { role: "system", content: fill(prose, 4_000, 0) },
        { role: "user", content: "before" },
        { role: "assistant", content: fill(prose, 8_000, 0) },
        { role: "user", content: "Look at all of it" },
      ],
      request: { model: "m", maxTokens: MAX_TOKENS },
      maxRounds: STEPS + 10,
      promptTokens: WINDOW - MAX_TOKENS - 1_024,
    },
    {
      model,
      scale,
      tools: createTestToolbox({
        tools: [look],
        maxResultChars: 16_000,
      }),
      run: testRun(),
      emit: (event) => {
        if (event.type === "tool.ended" && event.message.content.length === resultChars) stored++;
      },
    },
  );
  return { result, violations, requests, stored, largest };
}

describe("runLoop() with 200 steps in a small window", () => {
  const shapes: readonly (readonly [string, Shape])[] = [
    ["prose", { sample: prose }],
    ["code", { sample: code }],
    ["words of an awkward length", { sample: longWords }],
    ["Chinese", { sample: chinese }],
    ["long arguments too", { sample: prose, argumentChars: 5_000 }],
    ["long arguments of code alone", { sample: code, resultChars: 10, argumentChars: 5_000 }],
    ["short calls and results", { sample: prose, resultChars: 40 }],
    ["four calls at once", { sample: prose, callsAtOnce: 4 }],
    ["four calls at once with long arguments", { sample: code, callsAtOnce: 4, argumentChars: 5_000 }],
  ];
  test.each(shapes)("sends a valid transcript that fits each time: %s", async (_, shape) => {
    const { result, violations, requests, stored, largest } = await converse(shape);
    expect(violations).toEqual([]);
    expect(result).toMatchObject({ status: "answered", message: { content: "done" } });
    expect(requests).toBe(STEPS + 1);
    // What is left out is left out of the copy that is sent only.
    expect(stored).toBe(STEPS * (shape.callsAtOnce ?? 1));
    // And no more than needed.
    expect(largest).toBeGreaterThan(WINDOW / 2);
  });

  test("recovers each time the provider counts more than was guessed, and tells nothing", async () => {
    const { result, violations } = await converse({ sample: longWords, counts: false });
    expect(result.status).toBe("answered");
    expect(violations.every(({ code }) => code === "context_length_exceeded")).toBe(true);
    expect(violations.length).toBeGreaterThan(0);
    expect(violations.length).toBeLessThanOrEqual(3);
  });

  test("recovers from calls at once whose results are larger than the window together", async () => {
    const { result, violations } = await converse({ sample: prose, callsAtOnce: 12, argumentChars: 5_000 });
    expect(result.status).toBe("answered");
    expect(violations.every(({ code }) => code === "context_length_exceeded")).toBe(true);
    expect(violations.length).toBeLessThanOrEqual(3);
  });
});

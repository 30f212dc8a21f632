import { describe, expect, test } from "bun:test";
import type { ChatMessage, ToolDefinition } from "../../src/core/model.ts";
import {
  IMAGE_TOKENS,
  messagesTokens,
  messageTokens,
  promptTokens,
  toolTokens,
} from "../../src/lib/request-tokens.ts";

const words = (count: number) => "word ".repeat(count);
const call = (text: string) => ({ id: "call_1", name: "echo", arguments: JSON.stringify({ text }) });

describe("messageTokens()", () => {
  test("counts the text, and a little for the message", () => {
    expect(messageTokens({ role: "user", content: words(100) })).toBe(104);
    expect(messageTokens({ role: "tool", toolCallId: "1", name: "echo", content: "" })).toBe(4);
  });

  test("counts calls, each with what stands around it", () => {
    const one: ChatMessage = { role: "assistant", content: "", toolCalls: [call(words(100))] };
    const two: ChatMessage = { ...one, toolCalls: [call(words(100)), call(words(100))] };
    expect(messageTokens(one)).toBeGreaterThan(108);
    expect(messageTokens(two) - messageTokens(one)).toBe(messageTokens(one) - 4);
  });

  test("counts images, and thoughts in every form", () => {
    const image = { mime: "image/png", data: "A".repeat(10_000), name: "a" } as const;
    expect(messageTokens({ role: "user", content: "", images: [image, image] })).toBe(4 + 2 * IMAGE_TOKENS);
    const result = { role: "tool", toolCallId: "1", name: "echo", content: "" } as const;
    expect(messageTokens({ ...result, images: [image] })).toBe(4 + IMAGE_TOKENS);
    expect(messageTokens({ role: "assistant", content: "", reasoningContent: words(50) })).toBe(54);
    const thinkingBlocks = [{ type: "thinking", thinking: words(100), signature: "x".repeat(400) }];
    expect(messageTokens({ role: "assistant", content: "", thinkingBlocks })).toBeGreaterThan(200);
  });
});

test("messagesTokens() is the sum", () => {
  const messages: ChatMessage[] = [
    { role: "system", content: words(3) },
    { role: "user", content: words(5) },
  ];
  expect(messagesTokens(messages)).toBe(16);
  expect(messagesTokens([])).toBe(0);
});

test("toolTokens() counts what is sent, and nothing for none", () => {
  const tool: ToolDefinition = { name: "echo", description: words(50), parameters: { type: "object" } };
  expect(toolTokens([])).toBe(0);
  expect(toolTokens([tool])).toBeGreaterThan(55);
  expect(toolTokens([tool, tool])).toBeGreaterThan(2 * 55);
});

test("promptTokens() counts messages and tools", () => {
  const tools: ToolDefinition[] = [{ name: "echo", description: words(50), parameters: { type: "object" } }];
  const messages: ChatMessage[] = [{ role: "user", content: words(5) }];
  expect(promptTokens({ messages, tools })).toBe(messagesTokens(messages) + toolTokens(tools));
});

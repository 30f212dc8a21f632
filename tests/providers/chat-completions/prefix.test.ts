import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest, Image } from "../../../src/core/model.ts";
import { noQuirks, type Quirks } from "../../../src/providers/chat-completions/quirks.ts";
import { encodeRequest } from "../../../src/providers/chat-completions/request.ts";
import { vendors } from "../../../src/providers/vendors/vendors.ts";

const MARKER = ',"cache_control":{"type":"ephemeral"}';
const IMAGE: Image = { mime: "image/png", data: "iVBORw0KGgo=", name: "a.png" };
const TOOLS = ["exec", "read_file"].map((name) => ({
  name,
  description: `Do ${name}`,
  parameters: { type: "object", properties: { path: { type: "string" } } },
}));

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

function question(turn: number): ChatMessage {
  return {
    role: "user",
    content: `[Runtime Context]\nCurrent Time: 2026-01-0${turn % 10} 10:00\n[/Runtime Context]\n\nQuestion ${turn} 🐈`,
    ...(turn % 3 === 0 ? { images: [IMAGE] } : {}),
  };
}

/** Two calls, one of them signed, with or without reasoning, and their results. */
function round(turn: number, step: number): ChatMessage[] {
  const ids = [`call_${turn}_${step}_a`, `call_${turn}_${step}_b`];
  return [
    {
      role: "assistant",
      content: step === 0 ? "" : "Let me see.",
      toolCalls: ids.map((id, index) => ({
        id,
        name: "exec",
        arguments: `{"command":"ls ${turn}"}`,
        ...(index === 0 && turn % 2 === 0 ? { extra: { google: { thought_signature: `sig${turn}` } } } : {}),
      })),
      ...(step === 0 ? { reasoningContent: `thinking about ${turn}` } : {}),
      model: "somebody/some-model",
    },
    ...ids.map(
      (toolCallId): ChatMessage => ({ role: "tool", toolCallId, name: "exec", content: `out ${turn}` }),
    ),
  ];
}

/** What is sent in ten turns, in order. The turn before last was cut off behind its results. */
function conversation(): ChatMessage[][] {
  const messages: ChatMessage[] = [{ role: "system", content: "You are nanobot." }];
  const requests: ChatMessage[][] = [];
  for (let turn = 1; turn <= 10; turn++) {
    messages.push(question(turn));
    requests.push([...messages]);
    for (let step = 0; step < 2; step++) {
      messages.push(...round(turn, step));
      requests.push([...messages]);
    }
    if (turn === 9) continue;
    messages.push({ role: "assistant", content: `Answer ${turn}`, reasoningContent: "so" });
  }
  return deepFreeze(requests);
}

function textOf(model: string, messages: readonly ChatMessage[], quirks: Quirks): string {
  const request: ChatRequest = {
    model,
    messages,
    tools: TOOLS,
    toolChoice: "auto",
    maxTokens: 100,
    temperature: 0.1,
    reasoningEffort: "medium",
  };
  return new TextDecoder().decode(encodeRequest(deepFreeze(request), quirks, {}));
}

/** Without the bracket at the end. */
function messagesIn(text: string): string {
  return text.slice(text.indexOf('"messages":['), text.lastIndexOf('],"tools":['));
}

/** Everything but the messages, which a vendor puts in front of them. */
function restOf(text: string): string {
  return text.slice(0, text.indexOf('"messages":[')) + text.slice(text.lastIndexOf('],"tools":['));
}

const rows = vendors.flatMap(({ name, defaultModel, quirks = {} }) => {
  const row = { name, model: defaultModel ?? "m", quirks: { ...noQuirks, ...quirks } };
  const anthropic = { ...row, model: "anthropic/claude-sonnet-5-5" };
  return row.quirks.cacheMarkers ? [row, anthropic] : [row];
});

describe("encodeRequest() in ten turns", () => {
  test.each(rows.map((row) => [row.name, row.model, row.quirks] as const))(
    "with %s and %s begins with what it sent before",
    (_, model, quirks) => {
      const marks = quirks.cacheMarkers && model.includes("claude");
      const texts = conversation().map((messages) => textOf(model, messages, quirks));
      const plain = texts.map((text) => text.replaceAll(MARKER, ""));
      for (const [index, text] of plain.entries()) {
        const before = plain[index - 1];
        if (before === undefined) continue;
        expect(messagesIn(text).startsWith(`${messagesIn(before)},`)).toBe(true);
        expect(restOf(text)).toBe(restOf(before));
      }
      const counts = texts.map((text) => text.split(MARKER).length - 1);
      expect(Math.max(...counts)).toBe(marks ? 4 : 0);
    },
  );

  test.each(rows.map((row) => [row.name, row.model, row.quirks] as const))(
    "with %s and %s gives the same bytes for the same request",
    (_, model, quirks) => {
      const once = conversation().map((messages) => textOf(model, messages, quirks));
      const again = conversation().map((messages) => textOf(model, messages, { ...quirks }));
      const last = conversation().at(-1) ?? [];
      expect(again).toEqual(once);
      expect(textOf(model, last, quirks)).toBe(textOf(model, last, quirks));
    },
  );
});

import { describe, expect, test } from "bun:test";
import type { ProtocolName } from "../../src/core/app.ts";
import type { ChatMessage, ChatRequest, Image } from "../../src/core/model.ts";
import { quirksOf } from "../../src/providers/anthropic/quirks.ts";
import { encodeAnthropic } from "../../src/providers/anthropic/request.ts";
import { noQuirks } from "../../src/providers/chat-completions/quirks.ts";
import { encodeRequest } from "../../src/providers/chat-completions/request.ts";
import { noResponsesQuirks } from "../../src/providers/responses/quirks.ts";
import { encodeResponsesRequest } from "../../src/providers/responses/request.ts";
import { vendors } from "../../src/providers/vendors/vendors.ts";
import type { ServerQuirks } from "../../src/providers/wire/server-quirks.ts";

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

/** What each protocol gives back of a thought, in its own form; the others leave it out. */
const THOUGHTS = [
  { type: "thinking", thinking: "so", signature: "sig" },
  { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "enc" },
];

function question(turn: number): ChatMessage {
  return {
    role: "user",
    content: `[Runtime Context]\nCurrent Time: 2026-01-0${turn % 10} 10:00\n[/Runtime Context]\n\nQuestion ${turn} 🐈`,
    ...(turn % 3 === 0 ? { images: [IMAGE] } : {}),
  };
}

/** Two calls, one of them signed, with or without reasoning, and their results, with or without images. */
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
      thinkingBlocks: THOUGHTS,
      model: "somebody/some-model",
    },
    ...ids.map(
      (toolCallId, index): ChatMessage => ({
        role: "tool",
        toolCallId,
        name: "exec",
        content: `out ${turn}`,
        ...(turn % 4 === 0 && index >= step ? { images: [IMAGE] } : {}),
      }),
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
    messages.push({
      role: "assistant",
      content: `Answer ${turn}`,
      reasoningContent: "so",
      thinkingBlocks: THOUGHTS,
    });
  }
  return deepFreeze(requests);
}

interface Row {
  readonly name: string;
  readonly model: string;
  readonly protocol: ProtocolName;
  readonly quirks: Partial<ServerQuirks>;
}

interface Encoder {
  readonly encode: (request: ChatRequest, row: Row) => Uint8Array;
  /** What stands before and behind the part of the conversation that the next request sends again. */
  readonly edges: readonly [start: string, end: string];
}

const always = () => true;

const encoders: Readonly<Record<ProtocolName, Encoder>> = {
  chatCompletions: {
    encode: (request, { quirks }) => encodeRequest(request, { ...noQuirks, ...quirks }, {}),
    edges: ['"messages":[', '],"tools":['],
  },
  anthropic: {
    encode: (request, { quirks }) =>
      encodeAnthropic(request, {
        quirks: quirksOf(request.model, quirks),
        mayReplay: always,
        extraBody: {},
      }).body,
    // What comes next can be part of the same turn.
    edges: ['"messages":[', ']}],"tool_choice"'],
  },
  responses: {
    encode: (request) =>
      encodeResponsesRequest(request, { quirks: noResponsesQuirks, givesBack: always, extraBody: {} }),
    edges: ['"input":[', "]}"],
  },
};

function textOf(row: Row, messages: readonly ChatMessage[]): string {
  const request: ChatRequest = {
    model: row.model,
    messages,
    tools: TOOLS,
    toolChoice: "auto",
    maxTokens: 100,
    temperature: 0.1,
    reasoningEffort: "medium",
  };
  return new TextDecoder().decode(encoders[row.protocol].encode(deepFreeze(request), row));
}

/** The conversation, and everything but it. */
function split(text: string, { protocol }: Row): readonly [conversation: string, rest: string] {
  const [start, end] = encoders[protocol].edges;
  const [from, to] = [text.indexOf(start), text.lastIndexOf(end)];
  if (from === -1 || to < from) throw new Error(`no conversation in ${text}`);
  return [text.slice(from, to), text.slice(0, from) + text.slice(to)];
}

const rows = vendors.flatMap(({ name, defaultModel, protocol = "chatCompletions", quirks = {} }): Row[] => {
  const row = { name, model: defaultModel ?? "m", protocol, quirks };
  const anthropic = { ...row, model: "anthropic/claude-sonnet-5-5" };
  return quirks.cacheMarkers ? [row, anthropic] : [row];
});

function marksOf({ protocol, model, quirks }: Row): number {
  return protocol === "anthropic" || (quirks.cacheMarkers && model.includes("claude")) ? 4 : 0;
}

describe("a request in ten turns", () => {
  test.each(rows.map((row) => [row.name, row.protocol, row.model, row] as const))(
    "to %s by %s for %s begins with what was sent before",
    (_name, _protocol, _model, row) => {
      const texts = conversation().map((messages) => textOf(row, messages));
      const parts = texts.map((text) => split(text.replaceAll(MARKER, ""), row));
      for (const [index, [sent, rest]] of parts.entries()) {
        const [sentBefore, restBefore] = parts[index - 1] ?? ["", rest];
        expect(sent.startsWith(sentBefore)).toBe(true);
        expect(sent.length).toBeGreaterThan(sentBefore.length);
        expect(rest).toBe(restBefore);
      }
      const counts = texts.map((text) => text.split(MARKER).length - 1);
      expect(Math.max(...counts)).toBe(marksOf(row));
    },
  );

  test.each(rows.map((row) => [row.name, row.protocol, row.model, row] as const))(
    "to %s by %s for %s has the same bytes whether its messages were sent before or not",
    (_name, _protocol, _model, row) => {
      const once = conversation().map((messages) => textOf(row, messages));
      const again = conversation().map((messages) => textOf(row, messages));
      const late = conversation().at(-1) ?? [];
      expect(again).toEqual(once);
      expect(textOf(row, late)).toBe(once.at(-1) ?? "");
    },
  );
});

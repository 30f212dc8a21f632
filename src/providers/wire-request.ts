/** A request in the form of the chat-completions protocol, as the strictest vendors take it. */

import { Buffer } from "node:buffer";
import type { JsonObject } from "../core/json.ts";
import type { AssistantMessage, ChatMessage, ChatRequest, ToolCall, ToolDefinition } from "../core/model.ts";

/** Where a server differs from the others. Learnt from its refusals, and known beforehand for some vendors. */
export interface Quirks {
  /** It refuses `stream_options`; its streams tell the usage unasked. */
  readonly noStreamOptions: boolean;
  /** It wants `max_completion_tokens` in the place of `max_tokens`. */
  readonly completionTokens: boolean;
  /** It takes no `temperature`. */
  readonly noTemperature: boolean;
}

/** Reasoning models count their thinking in the limit, call it differently, and take no temperature. */
const REASONING_MODEL = /(^|\/)(gpt-([5-9]|\d{2})|o[134])([-.:]|$)/;

/** The body. Its keys always come in this order, and the same request always gives the same bytes. */
function toWireRequest(request: ChatRequest, quirks: Quirks) {
  const reasoning = REASONING_MODEL.test(request.model);
  const limitKey = reasoning || quirks.completionTokens ? "max_completion_tokens" : "max_tokens";
  const temperature = reasoning || quirks.noTemperature ? undefined : request.temperature;
  return {
    model: request.model,
    messages: toWireMessages(request.messages),
    ...(request.tools.length === 0
      ? {}
      : { tools: request.tools.map(toWireTool), tool_choice: toWireChoice(request.toolChoice) }),
    [limitKey]: request.maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(request.reasoningEffort === undefined ? {} : { reasoning_effort: request.reasoningEffort }),
    stream: true,
    ...(quirks.noStreamOptions ? {} : { stream_options: { include_usage: true } }),
  };
}

function toWireTool({ name, description, parameters }: ToolDefinition): JsonObject {
  return { type: "function", function: { name, description, parameters } };
}

function toWireChoice(choice: ChatRequest["toolChoice"]): string | JsonObject {
  return typeof choice === "string" ? choice : { type: "function", function: { name: choice.name } };
}

/**
 * The body. A conversation is sent again with every turn, and all of it but the end is the same: each
 * message is put into its form, and into bytes, once.
 */
export function encodeRequest(
  request: ChatRequest,
  quirks: Quirks,
  extraBody: Readonly<Record<string, unknown>>,
): Uint8Array<ArrayBuffer> {
  const wire = toWireRequest(request, quirks);
  const { model, messages: _, ...others } = { ...wire, ...extraBody };
  const parts: Uint8Array[] = [Buffer.from(`{"model":${JSON.stringify(model)},"messages":[`)];
  wire.messages.forEach((message, index) => {
    if (index > 0) parts.push(COMMA);
    parts.push(encodeMessage(message));
  });
  parts.push(Buffer.from(`],${JSON.stringify(others).slice(1)}`));
  return Buffer.concat(parts);
}

const COMMA = Buffer.from(",");
const encoded = new WeakMap<JsonObject, Uint8Array>();

function encodeMessage(message: JsonObject): Uint8Array {
  const bytes = encoded.get(message) ?? Buffer.from(JSON.stringify(message));
  encoded.set(message, bytes);
  return bytes;
}

const converted = new WeakMap<ChatMessage, JsonObject>();

/** `undefined` for a message that says nothing, which vendors refuse. */
function toWireMessage(message: ChatMessage): JsonObject | undefined {
  const wire = converted.get(message) ?? convert(message);
  if (wire !== undefined) converted.set(message, wire);
  return wire;
}

function convert(message: ChatMessage): JsonObject | undefined {
  switch (message.role) {
    case "system":
      return message.content === "" ? undefined : { role: "system", content: message.content };
    case "user":
      return message.content.trim() === "" ? undefined : { role: "user", content: message.content };
    case "assistant":
      if (message.toolCalls?.length) {
        return { ...toWireAssistant(message), tool_calls: message.toolCalls.map(toWireCall) };
      }
      return message.content === "" ? undefined : toWireAssistant(message);
    case "tool":
      return { role: "tool", tool_call_id: message.toolCallId, content: message.content };
  }
}

/**
 * Messages of one role after another become one, since vendors refuse them. The rest is passed on as it
 * is: a request is a valid transcript.
 */
function toWireMessages(messages: readonly ChatMessage[]): JsonObject[] {
  const wire: JsonObject[] = [];
  for (const message of messages) {
    const next = toWireMessage(message);
    if (next === undefined) continue;
    const previous = wire.at(-1);
    if (previous !== undefined && areOne(previous, next)) wire[wire.length - 1] = merge(previous, next);
    else wire.push(next);
  }
  return wire;
}

function areOne(previous: JsonObject, next: JsonObject): boolean {
  if (previous["role"] !== next["role"] || previous["tool_calls"] !== undefined) return false;
  return next["role"] === "user" || next["role"] === "assistant";
}

function merge(previous: JsonObject, next: JsonObject): JsonObject {
  const content = [previous["content"], next["content"]].filter((part) => part !== "").join("\n\n");
  return { ...previous, ...next, content };
}

function toWireAssistant({ content, reasoningContent }: AssistantMessage): JsonObject {
  return {
    role: "assistant",
    content,
    ...(reasoningContent === undefined ? {} : { reasoning_content: reasoningContent }),
  };
}

function toWireCall({ id, name, arguments: text }: ToolCall): JsonObject {
  return { id, type: "function", function: { name, arguments: text } };
}

/** One message in the form of the chat-completions protocol, as its server wants it. */

import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { AssistantMessage, ChatMessage, Image, ToolCall, UserMessage } from "../../core/model.ts";
import { isObject } from "../../lib/is-object.ts";
import { resultImageParts, type WireMessage } from "../wire/result-images.ts";
import type { Quirks } from "./quirks.ts";

export interface MessageForm {
  readonly quirks: Quirks;
  /** Text stands in parts, because only parts can be marked. */
  readonly inParts: boolean;
  /** Of a call's id. */
  readonly callId: (id: string) => string;
}

/** Stands for a result without a word, since vendors refuse empty content. */
const EMPTY_RESULT = "(empty)";

/** Moonshot takes an empty one for a missing one. */
const NO_REASONING = " ";

/** What Google documents for calls that its model did not make. */
const FOREIGN_CALL = { google: { thought_signature: "skip_thought_signature_validator" } };

const MARKER = { type: "ephemeral" } as const;

/** Vendors refuse a message that says nothing, so it is left out. */
export function saysSomething(message: ChatMessage): boolean {
  if (!isBlank(message.content)) return true;
  switch (message.role) {
    case "system":
      return false;
    case "user":
      return message.images !== undefined && message.images.length > 0;
    case "assistant":
      return message.toolCalls !== undefined && message.toolCalls.length > 0;
    case "tool":
      return true;
  }
}

function isBlank(text: string): boolean {
  // Asked of every message of every request, and nearly all begin with a letter.
  const first = text.charCodeAt(0);
  return !(first > 0x20 && first < 0x7f) && !/\S/.test(text);
}

export function toWireMessage(message: WireMessage, form: MessageForm): JsonObject {
  const { callId } = form;
  switch (message.role) {
    case "system":
      return { role: "system", content: textContent(message.content, form) };
    case "user":
      return { role: "user", content: userContent(message, form) };
    case "assistant":
      return toWireAssistant(message, form);
    case "tool": {
      const content = isBlank(message.content) ? EMPTY_RESULT : message.content;
      return {
        role: "tool",
        tool_call_id: callId(message.toolCallId),
        content: textContent(content, form),
      };
    }
    case "resultImages":
      return {
        role: "user",
        content: resultImageParts(message, { callId, text: textPart, image: imagePart }),
      };
  }
}

function textContent(text: string, { inParts }: MessageForm): JsonValue {
  return inParts ? [textPart(text)] : text;
}

function textPart(text: string): JsonObject {
  return { type: "text", text };
}

function userContent({ content, images = [] }: UserMessage, form: MessageForm): JsonValue {
  if (images.length === 0) return textContent(content, form);
  return [...images.map(imagePart), ...(isBlank(content) ? [] : [textPart(content)])];
}

function imagePart({ mime, data }: Image): JsonObject {
  return { type: "image_url", image_url: { url: `data:${mime};base64,${data}` } };
}

function toWireAssistant(message: AssistantMessage, form: MessageForm): JsonObject {
  const { content, toolCalls = [] } = message;
  const { nullContent, replayReasoning } = form.quirks;
  const reasoning = message.reasoningContent || (toolCalls.length > 0 ? NO_REASONING : "");
  return {
    role: "assistant",
    content: isBlank(content) ? (nullContent ? null : "") : content,
    ...(replayReasoning && reasoning !== "" ? { reasoning_content: reasoning } : {}),
    ...(toolCalls.length > 0
      ? { tool_calls: toolCalls.map((call, index) => toWireCall(call, index === 0, form)) }
      : {}),
  };
}

function toWireCall(call: ToolCall, isFirst: boolean, { quirks, callId }: MessageForm): JsonObject {
  return {
    id: callId(call.id),
    type: "function",
    function: { name: call.name, arguments: call.arguments },
    ...(quirks.thoughtSignatures ? signature(call.extra, isFirst) : {}),
  };
}

/** Of calls that were made at once, Gemini signs the first. */
function signature(extra: JsonObject | undefined, isFirst: boolean): JsonObject {
  if (isFirst && !isSigned(extra)) return { extra_content: { ...extra, ...FOREIGN_CALL } };
  return extra === undefined ? {} : { extra_content: extra };
}

function isSigned(extra: JsonObject | undefined): boolean {
  const google: unknown = extra?.["google"];
  return isObject(google) && typeof google["thought_signature"] === "string";
}

/** Vendors refuse messages of one role after another, so these become one. */
export function areOne(previous: WireMessage, next: WireMessage | undefined): boolean {
  if (previous.role === "user" || previous.role === "resultImages") return next?.role === "user";
  return previous.role === "assistant" && !previous.toolCalls?.length && next?.role === "assistant";
}

/** Of messages that are one. */
export function mergeWireMessages(previous: JsonObject, next: JsonObject): JsonObject {
  return { ...previous, ...next, content: mergeContent(previous["content"], next["content"]) };
}

function mergeContent(one: JsonValue | undefined, other: JsonValue | undefined): JsonValue {
  if (Array.isArray(one) || Array.isArray(other)) return [...partsOf(one), ...partsOf(other)];
  return [one, other].filter(Boolean).join("\n\n");
}

function partsOf(content: JsonValue | undefined): readonly JsonValue[] {
  if (typeof content === "string") return [textPart(content)];
  return Array.isArray(content) ? content : [];
}

/** With a marker on its last text, since images bear none: the prompt should be cached up to there. */
export function markWireMessage(message: JsonObject): JsonObject {
  const parts = partsOf(message["content"]);
  const last = parts.findLastIndex((part) => isObject(part) && part["type"] === "text");
  const content = parts.map((part, index) => (index === last && isObject(part) ? mark(part) : part));
  return { ...message, content };
}

export function mark(item: JsonObject): JsonObject {
  return { ...item, cache_control: MARKER };
}

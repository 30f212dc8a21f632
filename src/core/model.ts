/** A language model, whatever protocol it speaks: one request, one reply, deltas on the way. */

import type { JsonObject, JsonValue } from "./json.ts";

/** A call as it goes over the wire. `arguments` is the text of a JSON object. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** What a model returned beside its text and must be given back word for word on the next request. */
export interface Reasoning {
  readonly reasoningContent?: string;
  /** Opaque to everybody but the provider that made them. */
  readonly thinkingBlocks?: readonly JsonValue[];
}

export interface SystemMessage {
  readonly role: "system";
  readonly content: string;
}
export interface UserMessage {
  readonly role: "user";
  readonly content: string;
}
export interface AssistantMessage extends Reasoning {
  readonly role: "assistant";
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[];
}
export interface ToolMessage {
  readonly role: "tool";
  readonly toolCallId: string;
  readonly name: string;
  readonly content: string;
}
export type ChatMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** A tool as a model sees it. `parameters` is a JSON Schema whose type is `object`. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

/**
 * `messages` are a valid transcript: every call is followed by exactly one result and every string is
 * well-formed Unicode. `tools` come in a stable order, so that providers can cache the prefix.
 */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly toolChoice: "auto" | "none" | { readonly name: string };
  /** The most tokens the reply may have. */
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly reasoningEffort?: string;
}

/** Tokens, as the provider counted them. `cached` are those of `input` that were read from its cache. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning: number;
}

/** Classed by what can be done about it, once, where the failure is seen. */
export type ModelErrorKind =
  | "transient"
  | "auth"
  | "quota"
  | "contextOverflow"
  | "badRequest"
  | "contentFilter"
  | "aborted";

export interface ModelError {
  readonly kind: ModelErrorKind;
  /** One sentence for a person. Never holds a key. */
  readonly message: string;
  readonly status?: number;
  /** How long the server asked to be left alone, in milliseconds. */
  readonly retryAfterMs?: number;
}

export interface ChatAnswer extends Reasoning {
  readonly ok: true;
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  /** As the provider put it. For logs: decisions are made by what arrived. */
  readonly finishReason: string;
  readonly usage?: Usage;
}

/** `partial` is the text that had arrived, which may have been shown already. It is never an answer. */
export interface ChatFailure {
  readonly ok: false;
  readonly error: ModelError;
  readonly partial: string;
}

export type ChatReply = ChatAnswer | ChatFailure;

export interface ChatDelta {
  readonly kind: "text" | "reasoning";
  readonly text: string;
}

export interface ChatOptions {
  readonly signal: AbortSignal;
  /** Called in order with each piece of text as it arrives. Must not throw. */
  readonly onDelta: (delta: ChatDelta) => void;
}

/**
 * The port to a model. `chat` never throws: every failure, an abort included, is a `ChatFailure`.
 * It settles soon after `signal` aborts, and the text of its deltas joined is `content` or `partial`.
 */
export interface Model {
  /** The row or endpoint it belongs to, as `nanobot status` shows it. */
  readonly provider: string;
  chat(request: ChatRequest, options: ChatOptions): Promise<ChatReply>;
}

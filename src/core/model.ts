/** A language model, whatever protocol it speaks: one request, one reply, deltas on the way. */

import type { JsonObject, JsonValue } from "./json.ts";
import type { InboundId, Origin } from "./messages.ts";

/** A call as it goes over the wire. `arguments` is the text of a JSON object. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** What its vendor wants back with the call word for word, as a signature of the thought behind it. */
  readonly extra?: JsonObject;
}

/** An image as vendors take it, checked by its magic bytes. */
export interface Image {
  readonly mime: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  /** Base64. */
  readonly data: string;
  /** What stands for it where it cannot be shown. */
  readonly name: string;
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
  /** They come before the text. */
  readonly images?: readonly Image[];
}
export interface AssistantMessage extends Reasoning {
  readonly role: "assistant";
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[];
  /** Who wrote it, as `ChatAnswer` says: what is opaque is given back to nobody else. */
  readonly model?: string;
}
export interface ToolMessage {
  readonly role: "tool";
  readonly toolCallId: string;
  readonly name: string;
  readonly content: string;
  /** They come after the text. */
  readonly images?: readonly Image[];
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

/**
 * Tokens, as the provider counted them. `input` is the whole prompt, and `cached` are those of it that were
 * read from the provider's cache; `reasoning` are those of `output` that were thought and not said.
 */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning: number;
  /** US dollars, where the provider says what the call cost. */
  readonly cost?: number;
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
  /** `provider/name` of the model that failed, when that one only stood in for the one that was asked. */
  readonly model?: string;
}

export interface ChatAnswer extends Reasoning {
  readonly ok: true;
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  /** As the provider put it. For logs: decisions are made by what arrived. */
  readonly finishReason: string;
  /** It ends where the limit of tokens was reached, and not where the model was done. */
  readonly cutOff?: boolean;
  /** `provider/name` of the model that gave it. */
  readonly model?: string;
  readonly usage?: Usage;
}

/** `partial` is the text that had arrived, which may have been shown already. It is never an answer. */
export interface ChatFailure {
  readonly ok: false;
  readonly error: ModelError;
  readonly partial: string;
  // The rest is known of a single call over the wire, and not of a request that took several.
  /** What the provider had counted by then, which may be the prompt alone. */
  readonly usage?: Usage;
  /** Something of a reply had arrived, be it a thought or the beginning of a call, so the provider has read the prompt. */
  readonly started?: boolean;
}

export type ChatReply = ChatAnswer | ChatFailure;

export interface ChatDelta {
  readonly kind: "text" | "reasoning";
  readonly text: string;
}

/** What a caller should hear while it waits for a reply, or beside it. */
export interface ModelNotice {
  /** `waiting` and `switched` are of passing interest; `quota` is for the user to act on. */
  readonly kind: "waiting" | "switched" | "quota";
  /** One sentence for a person. */
  readonly text: string;
}

/** Tells how many tokens by our estimate a model will count as so many, from what it has counted before. */
export interface TokenScale {
  /** The estimated tokens that come to at most `tokens` in the model's own count, as far as is known. */
  fit(tokens: number): number;
  learn(estimated: number, counted: number): void;
  /** A prompt of so many estimated tokens was refused as too long. */
  refused(estimated: number): void;
}

/** On whose behalf a model is called. */
export interface Caller {
  readonly sessionKey: string;
  readonly origin: Origin;
  readonly turn: InboundId;
}

export interface ChatOptions {
  readonly signal: AbortSignal;
  /** Called in order with each piece of text as it arrives. Must not throw. */
  readonly onDelta: (delta: ChatDelta) => void;
  /** Must not throw. */
  readonly onNotice?: (notice: ModelNotice) => void;
  /** For the record of what was used. */
  readonly caller?: Caller;
}

/**
 * The port to a model. `chat` never throws: every failure, an abort included, is a `ChatFailure`.
 * It settles soon after `signal` aborts. The text of its deltas joined is `content` or `partial`, except
 * that text which turned out to be reasoning afterwards is no part of `content`.
 */
export interface Model {
  /** The row or endpoint it belongs to, as `nanobot status` shows it. */
  readonly provider: string;
  chat(request: ChatRequest, options: ChatOptions): Promise<ChatReply>;
}

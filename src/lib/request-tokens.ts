/** Estimates for what a request is made of, each counted once. */

import type { ChatMessage, ChatRequest, ToolDefinition } from "../core/model.ts";
import { estimateTokens } from "./estimate.ts";
import { imagesOf } from "./message-images.ts";

/** Per message, for its role and separators. */
const MESSAGE_TOKENS = 4;
/** Per call, for its id and the form around it. */
const CALL_TOKENS = 8;
/** Characters of what a model thought, in the form that only its vendor can read. */
const OPAQUE_CHARS_PER_TOKEN = 4;
/** What vendors count for a picture of about a megapixel. */
export const IMAGE_TOKENS = 1_300;

const ofMessages = new WeakMap<ChatMessage, number>();
const ofTools = new WeakMap<readonly ToolDefinition[], number>();

export function messageTokens(message: ChatMessage): number {
  const known = ofMessages.get(message);
  if (known !== undefined) return known;
  const tokens = MESSAGE_TOKENS + estimateTokens(message.content) + restTokens(message);
  ofMessages.set(message, tokens);
  return tokens;
}

/** Of what a message holds beside its text. */
function restTokens(message: ChatMessage): number {
  if (message.role !== "assistant") return imagesOf(message).length * IMAGE_TOKENS;
  const { toolCalls = [], reasoningContent = "", thinkingBlocks = [] } = message;
  const calls = toolCalls.map((call) => CALL_TOKENS + estimateTokens(call.name + call.arguments));
  const thought =
    thinkingBlocks.length === 0
      ? 0
      : Math.ceil(JSON.stringify(thinkingBlocks).length / OPAQUE_CHARS_PER_TOKEN);
  return calls.reduce((sum, tokens) => sum + tokens, estimateTokens(reasoningContent) + thought);
}

export function messagesTokens(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/** The tools go along with every request and never change. */
export function toolTokens(tools: readonly ToolDefinition[]): number {
  const tokens = ofTools.get(tools) ?? (tools.length === 0 ? 0 : estimateTokens(JSON.stringify(tools)));
  ofTools.set(tools, tokens);
  return tokens;
}

/** All that a request sends. */
export function promptTokens({ messages, tools }: Pick<ChatRequest, "messages" | "tools">): number {
  return messagesTokens(messages) + toolTokens(tools);
}

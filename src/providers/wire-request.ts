/** A request in the form of the chat-completions protocol, as the strictest vendors take it. */

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
export function toWireRequest(request: ChatRequest, quirks: Quirks): JsonObject {
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
 * Messages of one role after another become one, and a message that says nothing is left out, since
 * vendors refuse both. The rest is passed on as it is: a request is a valid transcript.
 */
function toWireMessages(messages: readonly ChatMessage[]): JsonObject[] {
  const wire: JsonObject[] = [];
  for (const message of messages) {
    switch (message.role) {
      case "system":
        if (message.content !== "") wire.push({ role: "system", content: message.content });
        break;
      case "user":
        if (message.content.trim() !== "") pushMerged(wire, { role: "user", content: message.content });
        break;
      case "assistant":
        if (message.toolCalls?.length) {
          pushMerged(wire, { ...toWireAssistant(message), tool_calls: message.toolCalls.map(toWireCall) });
        } else if (message.content !== "") {
          pushMerged(wire, toWireAssistant(message));
        }
        break;
      case "tool":
        wire.push({ role: "tool", tool_call_id: message.toolCallId, content: message.content });
    }
  }
  return wire;
}

function pushMerged(wire: JsonObject[], message: JsonObject): void {
  const previous = wire.at(-1);
  if (!previous || previous["role"] !== message["role"] || previous["tool_calls"] !== undefined) {
    wire.push(message);
    return;
  }
  const content = [previous["content"], message["content"]].filter((part) => part !== "").join("\n\n");
  wire[wire.length - 1] = { ...previous, ...message, content };
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

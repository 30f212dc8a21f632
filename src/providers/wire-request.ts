/** A request in the form of the chat-completions protocol, as the strictest vendors take it. */

import type { JsonObject } from "../core/json.ts";
import type {
  AssistantMessage,
  ChatMessage,
  ChatRequest,
  ToolCall,
  ToolDefinition,
  ToolMessage,
} from "../core/model.ts";
import { parseToolArguments } from "../lib/tool-arguments.ts";

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

const NAME_LIMIT = 64;

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

/** The ids of a call under which its results are found, in order: a model may have given one id twice. */
type OpenCalls = Map<string, string[]>;

/**
 * Messages of one role after another become one, ids that came twice get a suffix, and a message that
 * says nothing is left out, since vendors refuse each of these. The rest is passed on as it is.
 */
function toWireMessages(messages: readonly ChatMessage[]): JsonObject[] {
  const wire: JsonObject[] = [];
  const seen = new Set<string>();
  let open: OpenCalls = new Map();
  for (const message of messages) {
    switch (message.role) {
      case "system":
        if (message.content !== "") wire.push({ role: "system", content: message.content });
        break;
      case "user":
        if (message.content.trim() !== "") pushMerged(wire, { role: "user", content: message.content });
        break;
      case "assistant":
        open = new Map();
        if (message.toolCalls?.length) {
          const calls = message.toolCalls.map((call) => toWireCall(call, uniqueId(call.id, seen, open)));
          pushMerged(wire, { ...toWireAssistant(message), tool_calls: calls });
        } else if (message.content !== "") {
          pushMerged(wire, toWireAssistant(message));
        }
        break;
      case "tool":
        wire.push(toWireResult(message, open));
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

function toWireCall({ name, arguments: text }: ToolCall, id: string): JsonObject {
  return { id, type: "function", function: { name: wireName(name), arguments: wireArguments(text) } };
}

function toWireResult({ toolCallId, content }: ToolMessage, open: OpenCalls): JsonObject {
  return { role: "tool", tool_call_id: open.get(toolCallId)?.shift() ?? toolCallId, content };
}

function uniqueId(id: string, seen: Set<string>, open: OpenCalls): string {
  let unique = id;
  for (let count = 2; seen.has(unique); count++) unique = `${id}_${count}`;
  seen.add(unique);
  const waiting = open.get(id);
  if (waiting) waiting.push(unique);
  else open.set(id, [unique]);
  return unique;
}

/** A model can call a tool by any name, but no vendor takes any name back. */
function wireName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, NAME_LIMIT) || "unnamed";
}

/** The result beside the call says what was wrong with arguments that are no object. */
function wireArguments(text: string): string {
  const parsed = parseToolArguments(text);
  return parsed.ok ? parsed.text : "{}";
}

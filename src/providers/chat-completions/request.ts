/** A request in the form of the chat-completions protocol, as its server wants it. */

import { Buffer } from "node:buffer";
import type { JsonObject } from "../../core/json.ts";
import type { ChatRequest, ToolDefinition } from "../../core/model.ts";
import { REASONING_MODEL } from "../wire/reasoning-model.ts";
import { encodeMessages } from "./history.ts";
import { mark } from "./message.ts";
import type { Quirks } from "./quirks.ts";
import { thinkingOptions } from "./thinking.ts";

/** Only they want to be told what to cache, whoever passes the request on to them. */
const ANTHROPIC_MODEL = /claude|^anthropic\//i;

/**
 * The body. Its keys always come in this order, and the same request always gives the same bytes. As long
 * as a conversation only grows, the bytes of its messages begin with those of the last request, except for
 * the markers of what to cache.
 */
export function encodeRequest(
  request: ChatRequest,
  quirks: Quirks,
  extraBody: Readonly<Record<string, unknown>>,
): Uint8Array<ArrayBuffer> {
  const marking = quirks.cacheMarkers && ANTHROPIC_MODEL.test(request.model);
  const [first, ...rest] = encodeMessages(request.messages, { quirks, marking });
  // What the request says itself comes first; the messages are never anybody else's.
  const { model, messages: _, tools, ...others } = { ...optionsOf(request, quirks), ...extraBody };
  return Buffer.concat([
    Buffer.from(`{"model":${JSON.stringify(model)},"messages":[`),
    ...(first ? [first.subarray(1)] : []),
    ...rest,
    CLOSE,
    tools === undefined
      ? encodeTools(request.tools, marking)
      : Buffer.from(`,"tools":${JSON.stringify(tools)}`),
    Buffer.from(`,${JSON.stringify(others).slice(1)}`),
  ]);
}

const CLOSE = Buffer.from("]");

/** Everything but messages and tools. */
function optionsOf(request: ChatRequest, quirks: Quirks): Record<string, unknown> {
  const reasons = REASONING_MODEL.test(request.model);
  const completion = quirks.completionTokens === "byModel" ? reasons : quirks.completionTokens;
  const temperature = reasons || quirks.noTemperature ? undefined : request.temperature;
  return {
    model: request.model,
    ...(request.tools.length === 0 ? {} : { tool_choice: toWireChoice(request.toolChoice, quirks) }),
    [completion ? "max_completion_tokens" : "max_tokens"]: request.maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...thinkingOptions(request.reasoningEffort, request.model, quirks.thinking),
    stream: true,
    ...(quirks.noStreamOptions ? {} : { stream_options: { include_usage: true } }),
  };
}

function toWireChoice(choice: ChatRequest["toolChoice"], { noForcedTool }: Quirks): string | JsonObject {
  if (typeof choice === "string") return choice;
  return noForcedTool ? "auto" : { type: "function", function: { name: choice.name } };
}

/** Tools are the same list in every request. */
const plainTools = new WeakMap<readonly ToolDefinition[], Uint8Array>();
const markedTools = new WeakMap<readonly ToolDefinition[], Uint8Array>();
const NO_TOOLS = new Uint8Array();

function encodeTools(tools: readonly ToolDefinition[], marking: boolean): Uint8Array {
  if (tools.length === 0) return NO_TOOLS;
  const cache = marking ? markedTools : plainTools;
  const known = cache.get(tools);
  if (known !== undefined) return known;
  const wire = tools.map(toWireTool);
  const last = wire.pop();
  if (last !== undefined) wire.push(marking ? mark(last) : last);
  const bytes = Buffer.from(`,"tools":${JSON.stringify(wire)}`);
  cache.set(tools, bytes);
  return bytes;
}

function toWireTool({ name, description, parameters }: ToolDefinition): JsonObject {
  return { type: "function", function: { name, description, parameters } };
}

/** A request in the form of the chat-completions protocol, as its server wants it. */

import { Buffer } from "node:buffer";
import type { JsonObject } from "../../core/json.ts";
import type { ChatRequest, ToolDefinition } from "../../core/model.ts";
import type { ExtraBody } from "../wire/extra-body.ts";
import { memoized } from "../wire/memo.ts";
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
 * the markers of what to cache. `extraBody` comes over what the request says, but for the conversation.
 */
export function encodeRequest(
  request: ChatRequest,
  quirks: Quirks,
  extraBody: ExtraBody,
): Uint8Array<ArrayBuffer> {
  const marking = quirks.cacheMarkers && ANTHROPIC_MODEL.test(request.model);
  const { model, ...others } = { ...optionsOf(request, quirks), ...extraBody };
  const parts = encodeMessages(request.messages, { quirks, marking });
  const [first] = parts;
  // Each has a comma before it.
  if (first !== undefined) parts[0] = first.subarray(1);
  parts.unshift(Buffer.from(`{"model":${JSON.stringify(model)},"messages":[`));
  parts.push(CLOSE, encodeTools(request.tools, marking), Buffer.from(`,${JSON.stringify(others).slice(1)}`));
  return Buffer.concat(parts);
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
const plainTools = memoized((tools: readonly ToolDefinition[]) => toolBytes(tools.map(toWireTool)));
const markedTools = memoized((tools: readonly ToolDefinition[]) =>
  toolBytes(
    tools.map((tool, index) => (index === tools.length - 1 ? mark(toWireTool(tool)) : toWireTool(tool))),
  ),
);
const NO_TOOLS = new Uint8Array();

function encodeTools(tools: readonly ToolDefinition[], marking: boolean): Uint8Array {
  if (tools.length === 0) return NO_TOOLS;
  return marking ? markedTools(tools) : plainTools(tools);
}

function toolBytes(tools: readonly JsonObject[]): Uint8Array {
  return Buffer.from(`,"tools":${JSON.stringify(tools)}`);
}

function toWireTool({ name, description, parameters }: ToolDefinition): JsonObject {
  return { type: "function", function: { name, description, parameters } };
}

/** A request in the form of OpenAI's Responses protocol. */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type {
  AssistantMessage,
  ChatMessage,
  ChatRequest,
  Image,
  SystemMessage,
  ToolDefinition,
  ToolMessage,
  UserMessage,
} from "../../core/model.ts";
import { isObject } from "../../lib/is-object.ts";
import type { ExtraBody } from "../wire/extra-body.ts";
import { memoized } from "../wire/memo.ts";
import { REASONING_MODEL } from "../wire/reasoning-model.ts";
import { imagesBehindResults, resultImageParts, type WireMessage } from "../wire/result-images.ts";
import { effortFor } from "./effort.ts";
import type { ResponsesQuirks } from "./quirks.ts";

export interface ResponsesEncoding {
  readonly quirks: ResponsesQuirks;
  /** Put over the request's own keys, but for the conversation. */
  readonly extraBody: ExtraBody;
  /** Whether the opaque parts of this message are for the model that is asked. */
  readonly givesBack: (message: AssistantMessage) => boolean;
}

/** The protocol refuses lower limits. */
const LEAST_TOKENS = 16;

/**
 * The body. It ends with the conversation, so that the next request of a session begins with the bytes of
 * the one before. Each message is put into its form, and into bytes, once.
 */
export function encodeResponsesRequest(
  request: ChatRequest,
  { quirks, extraBody, givesBack }: ResponsesEncoding,
): Uint8Array<ArrayBuffer> {
  const { messages, tools } = request;
  const { model, ...others } = { ...optionsOf(request, quirks), ...extraBody };
  const parts: Uint8Array[] = [Buffer.from(`{"model":${JSON.stringify(model)}`)];
  pushInstructions(parts, messages);
  if (tools.length > 0) parts.push(toolsPart(tools));
  parts.push(Buffer.from(`,${JSON.stringify(others).slice(1, -1)},"input":[`));
  let isFirst = true;
  for (const message of quirks.textResults ? imagesBehindResults(messages) : messages) {
    const items = encoded[formFor(message, quirks, givesBack)](message);
    if (items.length === 0) continue;
    parts.push(isFirst ? items.subarray(COMMA.length) : items);
    isFirst = false;
  }
  parts.push(CLOSE);
  return Buffer.concat(parts);
}

const COMMA = ",";
const CLOSE = Buffer.from("]}");

/** Everything but the conversation and the tools. */
function optionsOf(request: ChatRequest, quirks: ResponsesQuirks): JsonObject {
  const { model, tools, toolChoice, maxTokens, temperature } = request;
  const effort = effortFor(request, quirks);
  // Not every reasoning model bears a name that shows it, as deployments on Azure do not.
  const reasons = REASONING_MODEL.test(model) || effort !== undefined;
  return {
    model,
    ...(tools.length === 0 ? {} : { tool_choice: toChoice(toolChoice, quirks.noForcedTool) }),
    ...(quirks.noLimit ? {} : { max_output_tokens: Math.max(LEAST_TOKENS, maxTokens) }),
    ...(temperature === undefined || reasons || quirks.noTemperature ? {} : { temperature }),
    ...(effort === undefined ? {} : { reasoning: toReasoning(effort, quirks.noSummary) }),
    ...(reasons && !quirks.noInclude ? { include: ["reasoning.encrypted_content"] } : {}),
    // What a person says to their agent is for nobody to keep.
    ...(quirks.noStore ? {} : { store: false }),
    stream: true,
  };
}

/** The messages of the system, as one text. */
function pushInstructions(parts: Uint8Array[], messages: readonly ChatMessage[]): void {
  let isFirst = true;
  for (const message of messages) {
    if (message.role !== "system") continue;
    parts.push(isFirst ? INSTRUCTIONS_OPEN : PARAGRAPH, instructionBytes(message));
    isFirst = false;
  }
  if (!isFirst) parts.push(QUOTE);
}

const INSTRUCTIONS_OPEN = Buffer.from(',"instructions":"');
const PARAGRAPH = Buffer.from("\\n\\n");
const QUOTE = Buffer.from('"');

/** Without the quotes around them. */
const instructionBytes = memoized(({ content }: SystemMessage) =>
  Buffer.from(JSON.stringify(content).slice(1, -1)),
);

/** Tools are the same list in every request. */
const toolsPart = memoized((tools: readonly ToolDefinition[]) =>
  Buffer.from(`,"tools":${JSON.stringify(tools.map(toTool))}`),
);

function toTool({ name, description, parameters }: ToolDefinition): JsonObject {
  // Strict schemas must name every property as required, which ours do not.
  return { type: "function", name, description, parameters, strict: false };
}

function toChoice(choice: ChatRequest["toolChoice"], noForcedTool: boolean): string | JsonObject {
  if (typeof choice === "string") return choice;
  return noForcedTool ? "auto" : { type: "function", name: choice.name };
}

function toReasoning(effort: string, noSummary: boolean): JsonObject {
  return { effort, ...(effort === "none" || noSummary ? {} : { summary: "auto" }) };
}

/**
 * How a message goes over the wire: without what is opaque in it, with it, or with it but for its ids; and a
 * result without its images.
 */
type Form = "plain" | "opaque" | "opaqueWithoutIds" | "textOnly";

/** Of a message, its items, each with a comma before it; nothing where it says nothing. */
const encoded: Readonly<Record<Form, (message: WireMessage) => Uint8Array>> = {
  plain: memoized((message) => itemBytes(message, "plain")),
  opaque: memoized((message) => itemBytes(message, "opaque")),
  opaqueWithoutIds: memoized((message) => itemBytes(message, "opaqueWithoutIds")),
  textOnly: memoized((message) => itemBytes(message, "textOnly")),
};

function itemBytes(message: WireMessage, form: Form): Uint8Array {
  const items = toItems(message, form).map((item) => COMMA + JSON.stringify(item));
  return Buffer.from(items.join(""));
}

function formFor(
  message: WireMessage,
  quirks: ResponsesQuirks,
  givesBack: ResponsesEncoding["givesBack"],
): Form {
  if (message.role === "tool" && quirks.textResults) return "textOnly";
  if (message.role !== "assistant" || !message.thinkingBlocks?.length || !givesBack(message)) return "plain";
  return quirks.noReasoningIds ? "opaqueWithoutIds" : "opaque";
}

function toItems(message: WireMessage, form: Form): JsonObject[] {
  switch (message.role) {
    case "system":
      return []; // It is in the instructions.
    case "user":
      return toUserItems(message);
    case "assistant":
      return toAssistantItems(message, form);
    case "tool":
      return [toResultItem(message, form)];
    case "resultImages": {
      const content = resultImageParts(message, { callId: toCallId, text: textPart, image: imagePart });
      return [{ type: "message", role: "user", content }];
    }
  }
}

function toResultItem({ toolCallId, content, images = [] }: ToolMessage, form: Form): JsonObject {
  const isText = images.length === 0 || form === "textOnly";
  const output = isText ? content : [...textParts(content), ...images.map(imagePart)];
  return { type: "function_call_output", call_id: toCallId(toolCallId), output };
}

/** None for a text without a word. */
function textParts(text: string): JsonObject[] {
  return text.trim() === "" ? [] : [textPart(text)];
}

function textPart(text: string): JsonObject {
  return { type: "input_text", text };
}

function imagePart({ mime, data }: Image): JsonObject {
  return { type: "input_image", image_url: `data:${mime};base64,${data}`, detail: "auto" };
}

function toUserItems({ content: text, images = [] }: UserMessage): JsonObject[] {
  const content = [...images.map(imagePart), ...textParts(text)];
  return content.length === 0 ? [] : [{ type: "message", role: "user", content }];
}

/** Items bear no ids of their own: the server, which stores nothing, would look for them. */
function toAssistantItems({ content, toolCalls = [], thinkingBlocks = [] }: AssistantMessage, form: Form) {
  const blocks = form === "plain" ? [] : thinkingBlocks;
  const items: JsonObject[] = toolCalls.map(({ id, name, arguments: text }) => ({
    type: "function_call",
    call_id: toCallId(id),
    name,
    arguments: text,
  }));
  if (content !== "") {
    const text = { type: "output_text", text: content, annotations: [] };
    items.unshift({ type: "message", role: "assistant", content: [text], ...phaseOf(blocks) });
  }
  // What was thought is only accepted in front of what came of it.
  return items.length === 0 ? [] : [...blocks.flatMap((block) => toReasoningItem(block, form)), ...items];
}

/** What kind of message it was, which some models want to hear again. */
function phaseOf(blocks: readonly JsonValue[]): JsonObject {
  const message = blocks.findLast((block) => isObject(block) && block["type"] === "message");
  const phase = isObject(message) ? message["phase"] : undefined;
  return phase === "commentary" || phase === "final_answer" ? { phase } : {};
}

/** Only what brings its content along: what does not would be looked for where nothing was stored. */
function toReasoningItem(block: JsonValue, form: Form): JsonObject[] {
  if (!isJsonObject(block) || block["type"] !== "reasoning") return [];
  const { id, summary = [], encrypted_content: encrypted, content } = block;
  const hasSecret = typeof encrypted === "string" && encrypted !== "";
  const hasContent = Array.isArray(content) && content.length > 0;
  if (!hasSecret && !hasContent) return [];
  return [
    {
      type: "reasoning",
      ...(typeof id === "string" && id !== "" && form === "opaque" ? { id } : {}),
      summary,
      // Of what is encrypted no plain text may go along.
      ...(hasSecret ? { encrypted_content: encrypted } : { content: content ?? [] }),
    },
  ];
}

function isJsonObject(value: JsonValue): value is JsonObject {
  return isObject(value);
}

/** Ids that other vendors made can be longer than this one takes. A call and its result get the same. */
function toCallId(id: string): string {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(id)) return id;
  return `call_${createHash("sha256").update(id).digest("hex").slice(0, 40)}`;
}

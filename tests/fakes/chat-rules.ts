/** What the strictest documented vendors of the chat-completions protocol refuse, as one check. */

import type { JsonObject } from "../../src/core/json.ts";
import { type ChatVendor, checkVendor, extraKeysOf, isObject, type Violation } from "./chat-vendors.ts";
import { isBase64 } from "./images.ts";

export interface ChatRules {
  /** What this one refuses on top, in its own words. It takes `content: null` unless that is what it refuses. */
  readonly vendor?: ChatVendor;
  /** The model cannot see. */
  readonly images?: "refused";
  /** An assistant message with calls may have `content: null`. */
  readonly allowNullContent?: boolean;
  /** Unknown keys at the top are refused. */
  readonly strictKeys?: boolean;
  /** Tokens, estimated as a quarter of the request's characters; above it the request is refused. */
  readonly contextWindow?: number;
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const KNOWN_KEYS = new Set([
  "model",
  "messages",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "stop",
  "seed",
  "stream",
  "stream_options",
  "reasoning_effort",
  "response_format",
  "user",
]);

const MESSAGE_KEYS: Readonly<Record<string, readonly string[]>> = {
  system: ["role", "content", "name"],
  user: ["role", "content", "name"],
  assistant: ["role", "content", "name", "refusal", "tool_calls"],
  tool: ["role", "content", "tool_call_id"],
};
const FUNCTION_KEYS = ["name", "description", "parameters", "strict"];
const EFFORTS: readonly unknown[] = ["none", "minimal", "low", "medium", "high", "xhigh"];

/** Thrown inside this file only; `checkRequest` turns it into its result. */
class Refused extends Error {}

function refuse(message: string): never {
  throw new Refused(message);
}

/** `undefined` when there is nothing to refuse. `text` is the body as it was sent. */
export function checkRequest(text: string, rules: ChatRules = {}): Violation | undefined {
  const { strictKeys = false, contextWindow = Number.POSITIVE_INFINITY } = rules;
  try {
    const body = parseBody(text);
    checkStrings(body, "body");
    checkTop(body);
    if (strictKeys) checkTopKeys(body, extraKeysOf(rules.vendor).top);
    const tools = checkTools(body);
    checkToolChoice(body, tools);
    checkMessages(body["messages"], rules);
    const refused = rules.vendor && checkVendor(rules.vendor, body);
    if (refused) return refused;
    checkInnerKeys(body, extraKeysOf(rules.vendor));
  } catch (error) {
    if (error instanceof Refused) return { code: "invalid_request_error", message: error.message };
    throw error;
  }
  const tokens = estimateTokens(text);
  if (tokens <= contextWindow) return undefined;
  return {
    code: "context_length_exceeded",
    message: `This model's maximum context length is ${contextWindow} tokens. However, your messages resulted in ${tokens} tokens.`,
  };
}

export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

function parseBody(text: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : refuse("the body must be a JSON object");
  } catch (error) {
    if (error instanceof SyntaxError) refuse("the body is not JSON");
    throw error;
  }
}

/** Every string and key, however deep: an escape like `\ud83d` alone shows only after decoding. */
function checkStrings(value: unknown, where: string): void {
  if (typeof value === "string") {
    if (!value.isWellFormed()) refuse(`${where} holds a lone surrogate`);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkStrings(item, `${where}[${index}]`);
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      checkStrings(key, `a key of ${where}`);
      checkStrings(item, `${where}.${key}`);
    }
  }
}

function checkTop(body: JsonObject): void {
  if (typeof body["model"] !== "string" || body["model"] === "") refuse("model must be a non-empty string");
  for (const key of ["max_tokens", "max_completion_tokens"]) {
    const value = body[key];
    if (value !== undefined && !(Number.isInteger(value) && Number(value) > 0)) {
      refuse(`${key} must be a positive integer`);
    }
  }
  const temperature = body["temperature"];
  if (
    temperature !== undefined &&
    !(typeof temperature === "number" && temperature >= 0 && temperature <= 2)
  ) {
    refuse("temperature must be between 0 and 2");
  }
  const effort = body["reasoning_effort"];
  if (effort !== undefined && !EFFORTS.includes(effort)) {
    refuse(`reasoning_effort has the unknown value ${JSON.stringify(effort)}`);
  }
  if (body["stream_options"] !== undefined && body["stream"] !== true) {
    refuse("stream_options is only allowed when stream is true");
  }
}

function checkTopKeys(body: JsonObject, own: readonly string[]): void {
  const unknown = Object.keys(body).find((key) => !KNOWN_KEYS.has(key) && !own.includes(key));
  if (unknown !== undefined) refuse(`unrecognized request argument: ${unknown}`);
}

/** Of a request that is valid otherwise: vendors have words of their own for some of these. */
function checkInnerKeys(body: JsonObject, own: ReturnType<typeof extraKeysOf>): void {
  for (const [index, tool] of objectsIn(body["tools"]).entries()) {
    checkKeys(tool, ["type", "function", ...own.tool], `tools[${index}]`);
    checkKeys(tool["function"], FUNCTION_KEYS, `tools[${index}].function`);
  }
  const choice = body["tool_choice"];
  if (isObject(choice)) {
    checkKeys(choice, ["type", "function"], "tool_choice");
    checkKeys(choice["function"], ["name"], "tool_choice.function");
  }
  for (const [index, message] of objectsIn(body["messages"]).entries()) {
    const where = `messages[${index}]`;
    const role = String(message["role"]);
    const extra = role === "assistant" ? own.assistant : [];
    checkKeys(message, [...(MESSAGE_KEYS[role] ?? []), ...extra], where);
    for (const [position, call] of objectsIn(message["tool_calls"]).entries()) {
      checkKeys(call, ["id", "type", "function", ...own.call], `${where}.tool_calls[${position}]`);
      checkKeys(call["function"], ["name", "arguments"], `${where}.tool_calls[${position}].function`);
    }
  }
}

function checkKeys(value: unknown, known: readonly string[], where: string): void {
  const unknown = Object.keys(isObject(value) ? value : {}).find((key) => !known.includes(key));
  if (unknown !== undefined) refuse(`${where} has the unknown key ${unknown}`);
}

function objectsIn(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? (list as unknown[]).filter(isObject) : [];
}

function checkTools(body: JsonObject): ReadonlySet<string> {
  const names = new Set<string>();
  const tools: unknown = body["tools"];
  if (tools === undefined) return names;
  if (!Array.isArray(tools) || tools.length === 0) refuse("tools must be a list with at least one tool");
  for (const [index, tool] of (tools as unknown[]).entries()) {
    const where = `tools[${index}]`;
    const definition = isObject(tool) && tool["type"] === "function" ? tool["function"] : undefined;
    if (!isObject(definition)) refuse(`${where} must be of type function`);
    const { name, description, parameters } = definition;
    if (typeof name !== "string" || !NAME.test(name)) refuse(`${where} has a bad name`);
    if (names.has(name)) refuse(`${where} repeats the name ${name}`);
    if (description !== undefined && typeof description !== "string")
      refuse(`${where} has a bad description`);
    if (!isObject(parameters) || parameters["type"] !== "object") {
      refuse(`${where} has a schema whose type is not object`);
    }
    names.add(name);
  }
  return names;
}

function checkToolChoice(body: JsonObject, tools: ReadonlySet<string>): void {
  const choice = body["tool_choice"];
  if (choice === undefined) return;
  if (tools.size === 0) refuse("tool_choice is only allowed when tools are given");
  if (choice === "auto" || choice === "none" || choice === "required") return;
  const named = isObject(choice) && choice["type"] === "function" ? choice["function"] : undefined;
  const name = isObject(named) ? named["name"] : undefined;
  if (typeof name !== "string") refuse("tool_choice has an unknown form");
  else if (!tools.has(name)) refuse(`tool_choice names the unknown tool ${name}`);
}

function checkMessages(messages: unknown, rules: ChatRules): void {
  if (!Array.isArray(messages)) refuse("messages must be a list");
  if (messages.length === 0) refuse("messages must not be empty");
  const seenIds = new Set<string>();
  let open: Set<string> = new Set();
  let previous: unknown;
  for (const [index, message] of (messages as unknown[]).entries()) {
    const where = `messages[${index}]`;
    if (!isObject(message)) refuse(`${where} must be an object`);
    const role = message["role"];
    if (role !== "tool" && open.size > 0) {
      refuse(`${where} stands where the results of ${[...open].join(", ")} must be`);
    }
    if (role === "tool") checkToolMessage(message, open, where);
    else if (role === "system") checkSystem(index, where);
    else if (role === "user") checkUser(message, previous, where);
    else if (role === "assistant") open = checkAssistant(message, previous, seenIds, where);
    else refuse(`${where} has the unknown role ${JSON.stringify(role)}`);
    checkContent(message, rules, where);
    previous = role;
  }
  if (open.size > 0) refuse(`the results of ${[...open].join(", ")} are missing at the end`);
  if (previous !== "user" && previous !== "tool") refuse("the last message must be of a user or a tool");
}

function checkContent(message: JsonObject, rules: ChatRules, where: string): void {
  const { content, role } = message;
  const { vendor, allowNullContent = vendor !== undefined } = rules;
  if (typeof content === "string") return;
  if (content === null && allowNullContent && message["tool_calls"] !== undefined) return;
  if (role !== "user" && objectsIn(content).some(({ type }) => type === "image_url")) {
    refuse(
      `Invalid '${where}'. Image URLs are only allowed for messages with role 'user', but this message with role '${role}' contains an image URL.`,
    );
  }
  const takesParts = role === "user" || (vendor === "anthropicViaOpenrouter" && role !== "assistant");
  if (!takesParts || !Array.isArray(content)) refuse(`${where}.content must be a string`);
  if (content.length === 0) refuse(`${where}.content has no parts`);
  for (const [index, part] of (content as unknown[]).entries()) {
    checkPart(part, rules, `${where}.content[${index}]`);
  }
}

const DATA_URL = /^data:image\/(?:png|jpeg|gif|webp);base64,(.*)$/s;

function checkPart(part: unknown, { vendor, images }: ChatRules, where: string): void {
  if (!isObject(part)) refuse(`${where} must be an object`);
  if (part["type"] !== "text" && part["type"] !== "image_url") {
    refuse(`${where} has the unknown type ${JSON.stringify(part["type"])}`);
  }
  const { type, text, image_url: image, cache_control: marker } = part;
  checkKeys(part, ["type", "cache_control", type === "text" ? "text" : "image_url"], where);
  if (marker !== undefined && vendor !== "anthropicViaOpenrouter") {
    refuse(`${where} has the unknown key cache_control`);
  }
  if (type === "text") {
    if (typeof text !== "string" || text.trim() === "") refuse(`${where} is an empty text`);
    return;
  }
  if (images === "refused") refuse("this model does not support image input");
  const url = isObject(image) ? image["url"] : undefined;
  if (!isBase64(DATA_URL.exec(String(url))?.[1])) refuse(`${where} is no image in base64`);
  if (marker !== undefined) refuse(`${where} is marked, which only a text part may be`);
  checkKeys(image, ["url", "detail"], `${where}.image_url`);
}

function checkSystem(index: number, where: string): void {
  if (index > 0) refuse(`${where} is a system message that is not the first`);
}

function checkUser(message: JsonObject, previous: unknown, where: string): void {
  if (previous === "user") refuse(`${where} follows another user message`);
  const content = message["content"];
  if (typeof content === "string" && content.trim() === "") refuse(`${where} is an empty user message`);
}

function checkToolMessage(message: JsonObject, open: Set<string>, where: string): void {
  const id = message["tool_call_id"];
  if (typeof id !== "string" || !open.delete(id)) {
    refuse(`${where} answers ${JSON.stringify(id)}, which is no open call of the assistant before it`);
  }
}

function checkAssistant(
  message: JsonObject,
  previous: unknown,
  seenIds: Set<string>,
  where: string,
): Set<string> {
  if (previous === undefined || previous === "system") refuse(`${where} comes before any user message`);
  if (previous === "assistant") refuse(`${where} follows another assistant message`);
  const calls: unknown = message["tool_calls"];
  if (calls === undefined) {
    if (!message["content"]) refuse(`${where} has neither content nor tool_calls`);
    return new Set();
  }
  if (!Array.isArray(calls) || calls.length === 0) refuse(`${where}.tool_calls must be a list with calls`);
  const open = new Set<string>();
  for (const [index, call] of (calls as unknown[]).entries()) {
    const id = checkCall(call, `${where}.tool_calls[${index}]`);
    if (seenIds.has(id)) refuse(`${where} repeats the call id ${id}`);
    seenIds.add(id);
    open.add(id);
  }
  return open;
}

function checkCall(call: unknown, where: string): string {
  const target = isObject(call) && call["type"] === "function" ? call["function"] : undefined;
  if (!isObject(call) || !isObject(target)) refuse(`${where} must be of type function`);
  const { id } = call;
  if (typeof id !== "string" || id === "") refuse(`${where} has no id`);
  const { name, arguments: text } = target;
  if (typeof name !== "string" || !NAME.test(name))
    refuse(`${where} has the bad name ${JSON.stringify(name)}`);
  checkArguments(text, where);
  return id;
}

function checkArguments(text: unknown, where: string): void {
  if (typeof text !== "string") refuse(`${where}.arguments must be a string`);
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) refuse(`${where}.arguments must be the text of a JSON object`);
    checkStrings(value, `${where}.arguments`);
  } catch (error) {
    if (error instanceof SyntaxError) refuse(`${where}.arguments is not JSON`);
    throw error;
  }
}

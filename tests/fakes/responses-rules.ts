/** What OpenAI's Responses API refuses, as its reference documents it, as one check. */

import type { JsonObject } from "../../src/core/json.ts";
import { isBase64 } from "./images.ts";

export interface ResponsesViolation {
  readonly message: string;
  readonly param: string | null;
  readonly code: string | null;
}

const KNOWN_KEYS = new Set([
  "background",
  "conversation",
  "include",
  "input",
  "instructions",
  "max_output_tokens",
  "max_tool_calls",
  "metadata",
  "model",
  "parallel_tool_calls",
  "previous_response_id",
  "prompt_cache_key",
  "prompt_cache_retention",
  "reasoning",
  "safety_identifier",
  "service_tier",
  "store",
  "stream",
  "stream_options",
  "temperature",
  "text",
  "tool_choice",
  "tools",
  "top_logprobs",
  "top_p",
  "truncation",
]);
const INCLUDABLE = new Set([
  "code_interpreter_call.outputs",
  "computer_call_output.output.image_url",
  "file_search_call.results",
  "message.input_image.image_url",
  "message.output_text.logprobs",
  "reasoning.encrypted_content",
  "web_search_call.action.sources",
]);
const EFFORTS = new Set(["none", "minimal", "low", "medium", "high", "xhigh"]);
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const DATA_URL = /^data:image\/(?:png|jpeg|gif|webp);base64,(.*)$/s;
const DETAILS: readonly unknown[] = [undefined, "auto", "low", "high", "original"];
const PHASES: readonly unknown[] = [undefined, "commentary", "final_answer"];
const STATUSES: readonly unknown[] = [undefined, "in_progress", "completed", "incomplete"];
const INPUT_PARTS = ["input_text", "input_image", "input_file"];
const PART_KEYS: Readonly<Record<string, readonly string[]>> = {
  input_text: ["text"],
  input_image: ["image_url", "detail", "file_id"],
  input_file: ["file_data", "file_id", "file_url", "filename"],
  output_text: ["text", "annotations", "logprobs"],
  refusal: ["refusal"],
};
const PARTS: Readonly<Record<string, readonly string[]>> = {
  user: INPUT_PARTS,
  system: INPUT_PARTS,
  developer: INPUT_PARTS,
  assistant: ["output_text", "refusal"],
};

/** As people name OpenAI's own. */
function isReasoningModel(model: unknown): boolean {
  return /^(gpt-5|o\d)/.test(String(model));
}

/** Thrown inside this file only; `checkResponsesRequest` turns it into its result. */
class Refused extends Error {
  readonly param: string | null;
  readonly code: string | null;

  constructor(message: string, param: string | null, code: string | null) {
    super(message);
    this.param = param;
    this.code = code;
  }
}

function refuse(message: string, param: string | null = null, code: string | null = null): never {
  throw new Refused(message, param, code);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `undefined` when there is nothing to refuse. `text` is the body as it was sent. */
export function checkResponsesRequest(text: string): ResponsesViolation | undefined {
  try {
    const body: unknown = JSON.parse(text);
    if (!isObject(body)) refuse("We could not parse the JSON body of your request.");
    checkStrings(body);
    checkTop(body);
    checkTools(body);
    checkInput(body);
  } catch (error) {
    if (error instanceof SyntaxError) return { message: "The body is not JSON.", param: null, code: null };
    if (!(error instanceof Refused)) throw error;
    return { message: error.message, param: error.param, code: error.code };
  }
  return undefined;
}

/** However deep: an escape like `\ud83d` alone shows only after decoding. */
function checkStrings(value: unknown): void {
  if (typeof value === "string" && !value.isWellFormed()) refuse("The body holds a lone surrogate.");
  if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      checkStrings(key);
      checkStrings(item);
    }
  }
}

function checkTop(body: JsonObject): void {
  const { model, instructions, max_output_tokens: limit, temperature, include, store, stream } = body;
  const unknown = Object.keys(body).find((key) => !KNOWN_KEYS.has(key));
  if (unknown !== undefined) refuse(`Unknown parameter: '${unknown}'.`, unknown, "unknown_parameter");
  if (typeof model !== "string" || model === "") refuse("Missing required parameter: 'model'.", "model");
  if (instructions !== undefined && typeof instructions !== "string") refuse("Invalid 'instructions'.");
  if (limit !== undefined && !(Number.isInteger(limit) && Number(limit) >= 16)) {
    const message = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${limit} instead.`;
    refuse(message, "max_output_tokens", "integer_below_min_value");
  }
  if (temperature !== undefined && isReasoningModel(model)) {
    refuse("Unsupported parameter: 'temperature' is not supported with this model.", "temperature");
  }
  if (body["previous_response_id"] !== undefined) {
    const message = `Previous response with id '${body["previous_response_id"]}' not found.`;
    refuse(message, "previous_response_id", "previous_response_not_found");
  }
  for (const entry of Array.isArray(include) ? include : []) {
    if (!INCLUDABLE.has(entry)) refuse(`Invalid value: '${entry}'.`, "include[0]", "invalid_value");
  }
  for (const flag of [store, stream]) {
    if (flag !== undefined && typeof flag !== "boolean") refuse("Invalid type: expected a boolean.");
  }
  checkReasoning(body);
}

function checkReasoning({ model, reasoning }: JsonObject): void {
  if (reasoning === undefined) return;
  if (!isObject(reasoning)) refuse("Invalid type for 'reasoning'.", "reasoning");
  const { effort, summary, ...others } = reasoning;
  if (Object.keys(others).length > 0) refuse("Unknown parameter in 'reasoning'.", "reasoning");
  if (!isReasoningModel(model)) {
    refuse("Unsupported parameter: 'reasoning.effort' is not supported with this model.", "reasoning.effort");
  }
  if (!EFFORTS.has(String(effort))) refuse(`Invalid value: '${effort}'.`, "reasoning.effort");
  if (summary !== undefined && !["auto", "concise", "detailed"].includes(String(summary))) {
    refuse(`Invalid value: '${summary}'.`, "reasoning.summary");
  }
}

function checkTools({ tools, tool_choice: choice }: JsonObject): void {
  const names = new Set<unknown>();
  for (const [index, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    const where = `tools[${index}]`;
    if (!isObject(tool) || tool["type"] !== "function") refuse(`Invalid value: '${where}.type'.`);
    const { name, description, parameters, strict, type: _, ...others } = tool;
    if (typeof name !== "string") {
      refuse(`Missing required parameter: '${where}.name'.`, `${where}.name`, "missing_required_parameter");
    }
    if (!NAME.test(name) || names.has(name)) refuse(`Invalid '${where}.name'.`);
    const unknown = Object.keys(others)[0];
    if (unknown !== undefined) refuse(`Unknown parameter: '${where}.${unknown}'.`);
    if (description !== undefined && typeof description !== "string")
      refuse(`Invalid '${where}.description'.`);
    if (strict !== undefined && strict !== null && typeof strict !== "boolean") {
      refuse(`Invalid type for '${where}.strict'.`);
    }
    if (!isObject(parameters) || parameters["type"] !== "object") refuse(`Invalid schema for '${name}'.`);
    if (strict === true) checkStrict(parameters, name);
    names.add(name);
  }
  checkChoice(choice, names);
}

function checkStrict(parameters: JsonObject, name: string): void {
  const properties = Object.keys(isObject(parameters["properties"]) ? parameters["properties"] : {});
  const required = Array.isArray(parameters["required"]) ? parameters["required"] : [];
  const isStrict = parameters["additionalProperties"] === false && required.length === properties.length;
  if (!isStrict) refuse(`Invalid schema for function '${name}': it is not strict.`);
}

function checkChoice(choice: unknown, names: ReadonlySet<unknown>): void {
  if (choice === undefined || choice === "auto" || choice === "none") return;
  if (names.size === 0) refuse("Tool choices other than 'auto' and 'none' need tools.", "tool_choice");
  if (choice === "required") return;
  if (!isObject(choice) || choice["type"] !== "function") refuse("Invalid 'tool_choice'.", "tool_choice");
  if (typeof choice["name"] !== "string") {
    refuse("Missing required parameter: 'tool_choice.name'.", "tool_choice.name");
  }
  checkKeys(choice, "tool_choice", ["type", "name"]);
  if (!names.has(choice["name"])) refuse(`Tool choice '${choice["name"]}' not found.`, "tool_choice");
}

function checkInput({ input, store }: JsonObject): void {
  if (typeof input === "string") return;
  if (!Array.isArray(input) || input.length === 0) refuse("Missing required parameter: 'input'.", "input");
  const open = new Set<unknown>();
  const all = new Set<unknown>();
  for (const [index, item] of input.entries()) {
    const where = `input[${index}]`;
    if (!isObject(item)) refuse(`Invalid type for '${where}'.`, where);
    switch (item["type"] ?? "message") {
      case "message":
        checkMessage(item, where, store);
        break;
      case "function_call":
        checkCall(item, where, store);
        if (all.has(item["call_id"])) refuse(`Duplicate call_id in '${where}'.`);
        open.add(item["call_id"]);
        all.add(item["call_id"]);
        break;
      case "function_call_output":
        checkOutput(item, where);
        if (!open.delete(item["call_id"])) {
          refuse(`No tool call found for function call output with call_id ${item["call_id"]}.`, "input");
        }
        break;
      case "reasoning":
        checkReasoningItem(item, where, input[index + 1]);
        break;
      default:
        refuse(`Invalid value: '${item["type"]}'.`, `${where}.type`, "invalid_value");
    }
  }
  const [missing] = open;
  if (missing !== undefined) refuse(`No tool output found for function call ${missing}.`, "input");
}

function checkKeys(item: JsonObject, where: string, known: readonly string[]): void {
  const unknown = Object.keys(item).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  refuse(`Unknown parameter: '${where}.${unknown}'.`, `${where}.${unknown}`, "unknown_parameter");
}

function checkStored(id: unknown, store: unknown): void {
  if (id === undefined || store !== false) return;
  const advice = "Try again with `store` set to true, or remove this item from your input.";
  refuse(
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. ${advice}`,
    "input",
  );
}

function checkMessage(item: JsonObject, where: string, store: unknown): void {
  checkKeys(item, where, ["type", "role", "content", "phase", "id", "status"]);
  checkStored(item["id"], store);
  checkStatus(item, where);
  const { role, content, phase } = item;
  if (!PHASES.includes(phase)) refuse(`Invalid value: '${phase}'.`, `${where}.phase`, "invalid_value");
  const allowed = PARTS[String(role)];
  if (!allowed) refuse(`Invalid value: '${role}'.`, `${where}.role`, "invalid_value");
  if (typeof content === "string") return;
  if (!Array.isArray(content) || content.length === 0) refuse(`Invalid '${where}.content'.`);
  for (const [index, part] of content.entries()) {
    const at = `${where}.content[${index}]`;
    if (!isObject(part)) refuse(`Invalid type for '${at}'.`);
    if (!allowed.includes(String(part["type"]))) {
      const supported = allowed.map((name) => `'${name}'`).join(", ");
      refuse(`Invalid value: '${part["type"]}'. Supported values are: ${supported}.`, at, "invalid_value");
    }
    checkPart(part, at);
  }
}

function checkPart(part: JsonObject, where: string): void {
  const { type, text, refusal, image_url: url, detail, annotations } = part;
  checkKeys(part, where, ["type", ...(PART_KEYS[String(type)] ?? [])]);
  if (type === "input_image") {
    const data = DATA_URL.exec(String(url))?.[1];
    if (!(data === undefined ? /^https?:\/\/\S+$/.test(String(url)) : isBase64(data))) {
      refuse(`Invalid '${where}.image_url'. Expected a valid URL.`, `${where}.image_url`, "invalid_value");
    }
    if (!DETAILS.includes(detail)) refuse(`Invalid value: '${detail}'.`, `${where}.detail`, "invalid_value");
  } else if (type !== "input_file" && typeof (text ?? refusal) !== "string") {
    refuse(`Missing required parameter: '${where}.text'.`);
  }
  if (annotations !== undefined && !Array.isArray(annotations))
    refuse(`Invalid type for '${where}.annotations'.`);
}

function checkStatus({ status }: JsonObject, where: string): void {
  if (!STATUSES.includes(status)) refuse(`Invalid value: '${status}'.`, `${where}.status`, "invalid_value");
}

function checkCall(item: JsonObject, where: string, store: unknown): void {
  checkKeys(item, where, ["type", "call_id", "name", "arguments", "id", "status"]);
  checkStored(item["id"], store);
  checkStatus(item, where);
  checkCallId(item["call_id"], where);
  if (!NAME.test(String(item["name"]))) refuse(`Invalid '${where}.name'.`);
  if (typeof item["arguments"] !== "string") refuse(`Invalid type for '${where}.arguments'.`);
}

function checkOutput(item: JsonObject, where: string): void {
  checkKeys(item, where, ["type", "call_id", "output", "id", "status"]);
  checkStatus(item, where);
  checkCallId(item["call_id"], where);
  const { output } = item;
  if (typeof output === "string") return;
  if (!Array.isArray(output)) refuse(`Missing required parameter: '${where}.output'.`);
  for (const [index, part] of output.entries()) {
    const at = `${where}.output[${index}]`;
    if (!isObject(part) || !INPUT_PARTS.includes(String(part["type"]))) refuse(`Invalid value in '${at}'.`);
    checkPart(part, at);
  }
}

function checkCallId(id: unknown, where: string): void {
  if (typeof id === "string" && id.length > 0 && id.length <= 64) return;
  const length = String(id ?? "").length;
  const message = `Invalid '${where}.call_id': string too long. Expected a string with maximum length 64, but got a string with length ${length} instead.`;
  refuse(message, `${where}.call_id`, "string_above_max_length");
}

function checkReasoningItem(item: JsonObject, where: string, next: unknown): void {
  checkKeys(item, where, ["type", "id", "summary", "encrypted_content", "content"]);
  const { id, summary, encrypted_content: encrypted, content = [] } = item;
  if (typeof id !== "string" || id === "") refuse(`Invalid '${where}.id': '${id}'.`, `${where}.id`);
  if (!Array.isArray(summary)) refuse(`Missing required parameter: '${where}.summary'.`, `${where}.summary`);
  for (const [index, part] of summary.entries()) {
    const at = `${where}.summary[${index}]`;
    if (!isObject(part) || part["type"] !== "summary_text" || typeof part["text"] !== "string") {
      refuse(`Invalid value in '${at}'.`, at, "invalid_value");
    }
    checkKeys(part, at, ["type", "text"]);
  }
  if (!Array.isArray(content) || content.length > 0) refuse(`Invalid '${where}.content': array too long.`);
  if (typeof encrypted !== "string" || encrypted === "") checkStored(id, false);
  if (!String(encrypted).startsWith("enc_")) {
    const message =
      "The encrypted content could not be verified. Reason: it could not be decrypted or parsed.";
    refuse(message, null, "invalid_encrypted_content");
  }
  const follows = isObject(next) ? next : {};
  const isOwn = follows["type"] === "message" ? follows["role"] === "assistant" : true;
  if (!isOwn || !["message", "function_call", "reasoning"].includes(String(follows["type"]))) {
    refuse(`Item '${id}' of type 'reasoning' was provided without its required following item.`, "input");
  }
}

/** What single vendors of the chat-completions protocol refuse beyond what all do, in the words they use. */

import type { JsonObject } from "../../src/core/json.ts";

export type ChatVendor =
  | "openai"
  | "mistral"
  | "deepseek"
  | "moonshot"
  | "gemini"
  | "groq"
  | "ollama"
  | "lmStudio"
  | "anthropicViaOpenrouter";

export interface Violation {
  readonly code: "invalid_request_error" | "context_length_exceeded";
  readonly message: string;
  /** 400 unless given. */
  readonly status?: number;
  /** The whole body, where its shape is the vendor's own. */
  readonly body?: unknown;
}

/** Keys beyond those of the protocol that a vendor takes, by where they stand. */
interface ExtraKeys {
  readonly top: readonly string[];
  readonly assistant: readonly string[];
  readonly call: readonly string[];
  readonly tool: readonly string[];
}

interface VendorRules {
  readonly keys?: Partial<ExtraKeys>;
  readonly check: (request: Request) => Violation | undefined;
}

interface Request {
  readonly body: JsonObject;
  readonly messages: readonly JsonObject[];
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** For a request that is valid otherwise. */
export function checkVendor(vendor: ChatVendor, body: JsonObject): Violation | undefined {
  return vendors[vendor].check({ body, messages: objectsIn(body["messages"]) });
}

export function extraKeysOf(vendor: ChatVendor | undefined): ExtraKeys {
  const none = { top: [], assistant: [], call: [], tool: [] };
  return vendor === undefined ? none : { ...none, ...vendors[vendor].keys };
}

function objectsIn(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? (list as unknown[]).filter(isObject) : [];
}

function callsOf(message: JsonObject): readonly JsonObject[] {
  return objectsIn(message["tool_calls"]);
}

function violation(message: string, extra: Partial<Violation> = {}): Violation {
  return { code: "invalid_request_error", message, ...extra };
}

/** The first of `items` that is refused. */
function firstOf<T>(
  items: readonly T[],
  check: (item: T, index: number) => Violation | undefined,
): Violation | undefined {
  for (const [index, item] of items.entries()) {
    const found = check(item, index);
    if (found) return found;
  }
  return undefined;
}

function isForced({ body }: Request): boolean {
  const choice = body["tool_choice"];
  return choice === "required" || isObject(choice);
}

function holdsImage({ messages }: Request): boolean {
  return messages.some(({ content }) => objectsIn(content).some(({ type }) => type === "image_url"));
}

function openai({ body, messages }: Request): Violation | undefined {
  const reasons = /^(gpt-5|o\d)/.test(String(body["model"]));
  if (reasons && body["max_tokens"] !== undefined) {
    return violation(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
  }
  if (reasons && body["temperature"] !== undefined && body["temperature"] !== 1) {
    return violation(
      `Unsupported value: 'temperature' does not support ${body["temperature"]} with this model. Only the default (1) value is supported.`,
    );
  }
  if (!reasons && body["reasoning_effort"] !== undefined) {
    return violation("Unrecognized request argument supplied: reasoning_effort");
  }
  return firstOf(
    messages,
    (message, index) =>
      unknownParameter(message, index) ??
      firstOf(callsOf(message), ({ id }, position) => {
        if (String(id).length <= 40) return undefined;
        return violation(
          `Invalid 'messages[${index}].tool_calls[${position}].id': string too long. Expected a string with maximum length 40, but got a string with length ${String(id).length} instead.`,
        );
      }),
  );
}

function unknownParameter(message: JsonObject, index: number): Violation | undefined {
  const unknown = ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"].find(
    (key) => message[key] !== undefined,
  );
  if (unknown === undefined) return undefined;
  return violation(`Unknown parameter: 'messages[${index}].${unknown}'.`);
}

function extraForbidden(...loc: readonly (string | number)[]): Violation {
  return validationError("extra_forbidden", loc, "Extra inputs are not permitted");
}

function literalError(key: string, msg: string): Violation {
  return validationError("literal_error", [key], msg);
}

function validationError(type: string, loc: readonly (string | number)[], msg: string): Violation {
  const detail = [{ type, loc: ["body", ...loc], msg }];
  const body = {
    object: "error",
    message: { detail },
    type: "invalid_request_error",
    param: null,
    code: null,
  };
  return violation(`${msg}: ${loc.join(".")}`, { status: 422, body });
}

function mistralError(message: string, type: string): Violation {
  const body = { object: "error", message, type, param: null, code: "3230", raw_status_code: 400 };
  return violation(message, { body });
}

const MISTRAL_REFUSES = ["stream_options", "max_completion_tokens", "user"];

function mistral({ body, messages }: Request): Violation | undefined {
  const extra = MISTRAL_REFUSES.find((key) => body[key] !== undefined);
  if (extra !== undefined) return extraForbidden(extra);
  const effort = body["reasoning_effort"];
  if (effort !== undefined && effort !== "high" && effort !== "none") {
    return literalError("reasoning_effort", "Input should be 'none' or 'high'");
  }
  return firstOf(messages, (message, index) => {
    const { role } = message;
    for (const key of ["reasoning_content", "extra_content"]) {
      if (message[key] !== undefined) return extraForbidden("messages", index, String(role), key);
    }
    const previous = messages[index - 1]?.["role"];
    if (role === "user" && previous === "tool") {
      return mistralError("Unexpected role 'user' after role 'tool'", "invalid_request_message_order");
    }
    const ids = [
      ...callsOf(message).map(({ id }) => id),
      ...(role === "tool" ? [message["tool_call_id"]] : []),
    ];
    const bad = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(String(id)));
    if (bad === undefined) return undefined;
    return mistralError(
      `Tool call id was ${bad} but must be a-z, A-Z, 0-9, with a length of 9.`,
      "invalid_function_call",
    );
  });
}

function thinks({ body }: Request): boolean {
  const { thinking } = body;
  return !(isObject(thinking) && thinking["type"] === "disabled");
}

function deepseek(request: Request): Violation | undefined {
  if (holdsImage(request)) {
    return violation(
      "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 1024",
    );
  }
  if (!thinks(request)) return undefined;
  if (isForced(request)) return violation("Thinking mode does not support this tool_choice");
  return firstOf(request.messages, (message) =>
    callsOf(message).length > 0 && typeof message["reasoning_content"] !== "string"
      ? violation("The `reasoning_content` in the thinking mode must be passed back to the API.")
      : undefined,
  );
}

function moonshot(request: Request): Violation | undefined {
  const { body, messages } = request;
  if (body["temperature"] !== undefined && body["temperature"] !== 1) {
    return violation("invalid temperature: only 1 is allowed for this model");
  }
  if (body["thinking"] !== undefined && body["reasoning_effort"] !== undefined) {
    return violation("cannot specify both 'thinking' and 'reasoning_effort'");
  }
  if (!thinks(request)) return undefined;
  if (isForced(request)) {
    const choice = isObject(body["tool_choice"]) ? "specified" : "required";
    return violation(`tool_choice '${choice}' is incompatible with thinking enabled`);
  }
  return firstOf(messages, (message, index) =>
    callsOf(message).length > 0 && !message["reasoning_content"]
      ? violation(
          `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
        )
      : undefined,
  );
}

function gemini({ messages }: Request): Violation | undefined {
  return firstOf(messages, (message, index) => {
    const [call] = callsOf(message);
    if (call === undefined) return undefined;
    const extra = isObject(call["extra_content"]) ? call["extra_content"]["google"] : undefined;
    if (isObject(extra) && typeof extra["thought_signature"] === "string") return undefined;
    const name = isObject(call["function"]) ? call["function"]["name"] : "";
    const text = `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${index}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
    return violation(text, {
      body: [{ error: { code: 400, message: text, status: "INVALID_ARGUMENT" } }],
    });
  });
}

const GROQ_MESSAGE_KEYS = new Set(["role", "content", "name", "tool_calls", "tool_call_id", "reasoning"]);

const GROQ_EFFORTS: readonly unknown[] = [undefined, "none", "default", "low", "medium", "high"];

function groq({ body, messages }: Request): Violation | undefined {
  if (!GROQ_EFFORTS.includes(body["reasoning_effort"])) {
    return violation("`reasoning_effort` must be one of `none`, `default`, `low`, `medium`, or `high`");
  }
  return firstOf(messages, (message, index) => {
    const unknown = Object.keys(message).find((key) => !GROQ_MESSAGE_KEYS.has(key));
    if (unknown === undefined) return undefined;
    return violation(
      `'messages.${index}' : for 'role:${message["role"]}' the following must be satisfied[('messages.${index}' : property '${unknown}' is unsupported)]`,
    );
  });
}

const OLLAMA_EFFORTS: readonly unknown[] = [undefined, "none", "low", "medium", "high"];

function ollama({ body, messages }: Request): Violation | undefined {
  const effort = body["reasoning_effort"];
  if (!OLLAMA_EFFORTS.includes(effort)) {
    return violation(`invalid reasoning value: '${effort}' (must be "high", "medium", "low", or "none")`);
  }
  return messages.some(({ content }) => content === null)
    ? violation("invalid message content type: <nil>")
    : undefined;
}

function lmStudio({ body, messages }: Request): Violation | undefined {
  const refused = (error: string) => violation(error, { body: { error } });
  if (isObject(body["tool_choice"])) {
    return refused("Invalid tool_choice type: 'object'. Supported string values: none, auto, required");
  }
  return messages.some(({ content }) => content === null)
    ? refused("Invalid 'content': 'content' field must be a string or an array of objects.")
    : undefined;
}

function anthropicViaOpenrouter({ body, messages }: Request): Violation | undefined {
  const parts = messages.flatMap(({ content }) => objectsIn(content));
  const marked = [...parts, ...objectsIn(body["tools"])].filter(
    (item) => item["cache_control"] !== undefined,
  );
  if (marked.length <= 4) return undefined;
  return violation(`A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`);
}

const vendors: Readonly<Record<ChatVendor, VendorRules>> = {
  openai: { check: openai },
  mistral: { check: mistral },
  deepseek: { keys: { top: ["thinking"], assistant: ["reasoning_content"] }, check: deepseek },
  moonshot: { keys: { top: ["thinking"], assistant: ["reasoning_content"] }, check: moonshot },
  gemini: { keys: { call: ["extra_content"] }, check: gemini },
  groq: { keys: { assistant: ["reasoning"] }, check: groq },
  ollama: { check: ollama },
  lmStudio: { check: lmStudio },
  anthropicViaOpenrouter: {
    keys: {
      top: ["reasoning"],
      assistant: ["reasoning", "reasoning_details"],
      tool: ["cache_control"],
    },
    check: anthropicViaOpenrouter,
  },
};

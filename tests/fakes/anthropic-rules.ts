/** What the Messages API of Anthropic refuses, as one check. */

import { isObject } from "../../src/lib/is-object.ts";
import {
  checkBlock,
  checkKeys,
  checkText,
  type Fields,
  type GivenThoughts,
  listOf,
  NAME,
  Refused,
  refuse,
} from "./anthropic-blocks.ts";

export interface AnthropicRules {
  /** As the newest models: `temperature` is refused. */
  readonly noTemperature?: boolean;
  /** As the newest models: thinking takes an effort, and no budget. */
  readonly adaptiveOnly?: boolean;
  /** As older models: thinking takes a budget, and no effort. */
  readonly budgetOnly?: boolean;
  /** Thinking cannot be switched off. */
  readonly alwaysThinks?: boolean;
  readonly noForcedTool?: boolean;
  /** The highest limit of a reply. */
  readonly mostTokens?: number;
}

const NOTHING_GIVEN: GivenThoughts = { signed: new Map(), redacted: new Set() };

const KNOWN_KEYS = new Set([
  "model",
  "system",
  "tools",
  "messages",
  "tool_choice",
  "max_tokens",
  "temperature",
  "thinking",
  "output_config",
  "stream",
  "metadata",
  "stop_sequences",
  "top_k",
  "top_p",
]);

const EFFORTS: readonly unknown[] = ["low", "medium", "high", "xhigh", "max"];

/** The message of the refusal, or `undefined` when there is nothing to refuse. */
export function checkMessagesRequest(
  text: string,
  rules: AnthropicRules,
  given: GivenThoughts = NOTHING_GIVEN,
): string | undefined {
  try {
    const body = parseBody(text);
    checkStrings(body);
    checkTop(body, rules);
    const thinks = checkThinking(body, rules);
    checkTools(body, rules, thinks);
    checkMarkers(body);
    checkConversation(body, given, thinks);
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
  return undefined;
}

function parseBody(text: string): Fields {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : refuse("the body must be a JSON object");
  } catch (error) {
    if (error instanceof SyntaxError) refuse("the body is not JSON");
    throw error;
  }
}

function checkStrings(value: unknown): void {
  if (typeof value === "string" && !value.isWellFormed())
    refuse("str is not valid UTF-8: surrogates not allowed");
  if (typeof value === "object" && value !== null)
    for (const item of Object.values(value)) checkStrings(item);
}

function checkTop(body: Fields, { noTemperature, mostTokens = 64_000 }: AnthropicRules): void {
  const unknown = Object.keys(body).find((key) => !KNOWN_KEYS.has(key));
  if (unknown !== undefined) refuse(`${unknown}: Extra inputs are not permitted`);
  if (typeof body["model"] !== "string" || body["model"] === "") refuse("model: Field required");
  const { max_tokens: most, temperature, system } = body;
  if (typeof most !== "number") refuse("max_tokens: Field required");
  if (!Number.isInteger(most) || most < 1) refuse("max_tokens: must be greater than or equal to 1");
  if (most > mostTokens) {
    refuse(
      `max_tokens: ${most} > ${mostTokens}, which is the maximum allowed number of output tokens for ${body["model"]}`,
    );
  }
  if (temperature !== undefined) {
    if (noTemperature) refuse("`temperature` is deprecated for this model.");
    if (typeof temperature !== "number" || temperature < 0 || temperature > 1) {
      refuse("temperature: range: 0..1");
    }
  }
  if (system !== undefined) {
    for (const block of listOf(system, "system")) {
      if (block["type"] !== "text") refuse("system: Input should be 'text'");
      checkKeys(block, ["type", "text", "cache_control"], "system");
      checkText(block, "system");
    }
  }
}

/** Whether the model thinks for this request. */
function checkThinking(body: Fields, rules: AnthropicRules): boolean {
  const { thinking, temperature, max_tokens: most, output_config: output } = body;
  if (output !== undefined) checkOutputConfig(output, rules);
  if (thinking === undefined) return rules.alwaysThinks === true;
  if (!isObject(thinking)) refuse("thinking: Input should be an object");
  const { type, budget_tokens: budget } = thinking;
  const own = type === "enabled" ? ["budget_tokens", "display"] : type === "adaptive" ? ["display"] : [];
  checkKeys(thinking, ["type", ...own], `thinking.${type}`);
  if (type === "disabled") {
    if (rules.alwaysThinks) refuse('"thinking.type.disabled" is not supported for this model.');
    return false;
  }
  if (type === "adaptive") {
    if (rules.budgetOnly) refuse("adaptive thinking is not supported on this model");
  } else if (type === "enabled") {
    if (rules.adaptiveOnly) {
      refuse(
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
      );
    }
    if (typeof budget !== "number" || budget < 1024) {
      refuse("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
    }
    if (budget >= Number(most)) refuse("`max_tokens` must be greater than `thinking.budget_tokens`");
  } else {
    refuse("thinking: Input tag does not match any of the expected tags");
  }
  if (temperature !== undefined && temperature !== 1) {
    refuse("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode");
  }
  return true;
}

function checkOutputConfig(output: unknown, { budgetOnly }: AnthropicRules): void {
  if (!isObject(output)) refuse("output_config: Input should be an object");
  checkKeys(output, ["effort", "format"], "output_config");
  const { effort } = output;
  if (effort === undefined) return;
  if (budgetOnly) refuse("This model does not support the effort parameter.");
  if (!EFFORTS.includes(effort)) {
    refuse("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'");
  }
}

function checkTools(body: Fields, rules: AnthropicRules, thinks: boolean): void {
  const names = new Set<unknown>();
  const { tools = [], tool_choice: choice } = body;
  for (const [index, tool] of listOf(tools, "tools").entries()) {
    const { name, input_schema: schema, description } = tool;
    const where = `tools.${index}.custom`;
    checkKeys(tool, ["type", "name", "description", "input_schema", "strict", "cache_control"], where);
    if (description !== undefined && typeof description !== "string") {
      refuse(`${where}.description: Input should be a valid string`);
    }
    if (typeof name !== "string" || !NAME.test(name)) refuse(`${where}.name: bad pattern`);
    if (names.has(name)) refuse("tools: Tool names must be unique.");
    if (!isObject(schema) || schema["type"] !== "object") {
      refuse(`${where}.input_schema.type: Input should be 'object'`);
    }
    if ("anyOf" in schema || "oneOf" in schema || "allOf" in schema) {
      refuse(`${where}: input_schema does not support oneOf, allOf, or anyOf at the top level`);
    }
    names.add(name);
  }
  if (choice === undefined) return;
  if (names.size === 0) refuse("tool_choice: tool_choice may only be specified while providing tools");
  if (!isObject(choice)) refuse("tool_choice: Input should be an object");
  const own = { auto: ["disable_parallel_tool_use"], tool: ["name", "disable_parallel_tool_use"] };
  checkKeys(
    choice,
    ["type", ...(choice["type"] === "auto" ? own.auto : choice["type"] === "tool" ? own.tool : [])],
    "tool_choice",
  );
  if (choice["type"] === "auto" || choice["type"] === "none") return;
  if (choice["type"] !== "tool") refuse("tool_choice: Input tag does not match any of the expected tags");
  if (!names.has(choice["name"])) refuse(`tool_choice: Tool '${choice["name"]}' not found in provided tools`);
  if (rules.noForcedTool) refuse('tool_choice: type "tool" and "any" are not supported for this model.');
  if (thinks) refuse("Thinking may not be enabled when tool_choice forces tool use.");
}

function checkMarkers(body: Fields): void {
  const messages = listOf(body["messages"], "messages");
  const contents = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as unknown[]) : []));
  const lists = [body["system"], body["tools"]].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  const markers = [...contents, ...lists].flatMap((item) =>
    isObject(item) && item["cache_control"] !== undefined ? [item["cache_control"]] : [],
  );
  if (markers.length > 4) {
    refuse(`A maximum of 4 blocks with cache_control may be provided. Found ${markers.length}.`);
  }
  for (const marker of markers) {
    if (!isObject(marker) || marker["type"] !== "ephemeral")
      refuse("cache_control.type: Input should be 'ephemeral'");
    checkKeys(marker, ["type", "ttl"], "cache_control");
  }
}

function checkConversation(body: Fields, given: GivenThoughts, thinks: boolean): void {
  const messages = listOf(body["messages"], "messages");
  if (messages.length === 0) refuse("messages: at least one message is required");
  if (messages[0]?.["role"] !== "user") refuse('messages: first message must use the "user" role');
  const seen = new Set<string>();
  let open: ReadonlySet<string> = new Set();
  for (const [index, message] of joined(messages).entries()) {
    const where = `messages.${index}`;
    const content = listOf(message["content"], `${where}.content`);
    if (content.length === 0) refuse(`${where}: all messages must have non-empty content`);
    for (const block of content) checkBlock(block, message["role"], where, given);
    if (message["role"] === "user") checkResults(content, open, where);
    open = message["role"] === "assistant" ? checkCalls(content, seen, where) : new Set();
  }
  if (open.size > 0) refuse("`tool_use` ids were found without `tool_result` blocks immediately after");
  checkEnd(messages, body, thinks);
}

/** Messages of one role after another count as one. */
function joined(messages: readonly Fields[]): Fields[] {
  const all: Fields[] = [];
  for (const message of messages) {
    const { role, content } = message;
    checkKeys(message, ["role", "content"], "messages");
    if (role !== "user" && role !== "assistant") refuse(`messages: Unexpected role "${String(role)}"`);
    const previous = all.at(-1);
    if (previous?.["role"] !== role) all.push(message);
    else {
      all[all.length - 1] = {
        role,
        content: [...listOf(previous["content"], "messages"), ...listOf(content, "messages")],
      };
    }
  }
  return all;
}

function checkCalls(content: readonly Fields[], seen: Set<string>, where: string): ReadonlySet<string> {
  const ids = content.flatMap((block) => (block["type"] === "tool_use" ? [String(block["id"])] : []));
  for (const id of ids) {
    if (seen.has(id)) refuse(`${where}: \`tool_use\` ids must be unique`);
    seen.add(id);
  }
  return new Set(ids);
}

function checkResults(content: readonly Fields[], open: ReadonlySet<string>, where: string): void {
  const waiting = new Set(open);
  const firstOther = content.findIndex((block) => block["type"] !== "tool_result");
  for (const [index, { type, tool_use_id: id }] of content.entries()) {
    if (type !== "tool_result") continue;
    if (firstOther >= 0 && index > firstOther) refuse(`${where}: tool_result blocks must come first`);
    if (!waiting.delete(String(id)))
      refuse(`${where}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}`);
  }
  if (waiting.size > 0) {
    refuse(
      `${where}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${[...waiting]}`,
    );
  }
}

function checkEnd(messages: readonly Fields[], { thinking }: Fields, thinks: boolean): void {
  const last = messages.at(-1);
  const lastBlock = listOf(last?.["content"], "messages").at(-1);
  if (last?.["role"] === "assistant") {
    if (thinks) refuse("messages: prefill is not supported when thinking is enabled");
    if (/\s$/.test(String(lastBlock?.["text"] ?? ""))) {
      refuse("messages: final assistant content cannot end with trailing whitespace");
    }
  }
  if (!isObject(thinking) || thinking["type"] !== "enabled") return;
  const reply = messages.findLast(({ role }) => role === "assistant");
  const blocks = reply === undefined ? [] : listOf(reply["content"], "messages");
  const isOpen = blocks.some(({ type }) => type === "tool_use") && messages.at(-2) === reply;
  const answersIt = isOpen && listOf(last?.["content"], "messages")[0]?.["type"] === "tool_result";
  if (answersIt && !/thinking/.test(String(blocks[0]?.["type"]))) {
    refuse(
      `messages: Expected \`thinking\` or \`redacted_thinking\`, but found \`${blocks[0]?.["type"]}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
    );
  }
}

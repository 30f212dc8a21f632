/** A request in the form of Anthropic's Messages protocol. */

import type {
  AssistantMessage,
  ChatMessage,
  ChatRequest,
  ToolCall,
  ToolDefinition,
  ToolMessage,
  UserMessage,
} from "../../core/model.ts";
import { acceptableArguments } from "../../lib/acceptable-call.ts";
import { isObject } from "../../lib/is-object.ts";
import { type AnthropicQuirks, type Settings, settingsFor, thinks } from "./settings.ts";

export interface EncodeOptions {
  readonly quirks: AnthropicQuirks;
  /** Whether this message's thinking may go back, which is for the model that thought it alone. */
  readonly mayReplay: (message: AssistantMessage) => boolean;
  /** Put over the request's own keys. */
  readonly extraBody: Readonly<Record<string, unknown>>;
}

export interface Encoded {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly settings: Settings;
  /** The messages whose thinking went back. */
  readonly replayed: ReadonlySet<ChatMessage>;
}

/** A block of content: its type, and the whole of it as JSON. */
interface Block {
  readonly type: string;
  readonly json: string;
}

interface Turn {
  readonly role: "user" | "assistant";
  readonly blocks: Block[];
}

/** The same request always gives the same bytes. */
export function encodeAnthropic(
  request: ChatRequest,
  { quirks, mayReplay, extraBody }: EncodeOptions,
): Encoded {
  const thoughtful = request.messages.filter(
    (message) => message.role === "assistant" && thinkingOf(message).length > 0 && mayReplay(message),
  );
  const whole = toTurns(request.messages, new Set(thoughtful));
  const settings = settingsFor(request, quirks, takesBudget(whole));
  const replayed = new Set(thinks(settings, quirks) ? thoughtful : []);
  const turns = replayed.size === thoughtful.length ? whole : toTurns(request.messages, replayed);
  return { body: encodeBody(request, settings, turns, extraBody), settings, replayed };
}

/** In the middle of a turn, a budget is refused unless the reply before the results begins with thinking. */
function takesBudget(turns: readonly Turn[]): boolean {
  if (turns.at(-1)?.blocks[0]?.type !== "tool_result") return true;
  return /thinking/.test(turns.at(-2)?.blocks[0]?.type ?? "");
}

/** What stays the same from turn to turn comes first. */
function encodeBody(
  request: ChatRequest,
  { maxTokens, temperature, thinking, effort, toolChoice }: Settings,
  turns: readonly Turn[],
  extraBody: EncodeOptions["extraBody"],
): Uint8Array<ArrayBuffer> {
  const tools = request.tools.map((tool) => ({ type: "tool", json: toolJson(tool) }));
  const lists: [string, string][] = [
    ["system", listOf(marked(systemBlocks(request.messages)))],
    ["tools", listOf(marked(tools))],
    ["messages", listOf(markTail(turns).map(turnJson))],
  ];
  const parts = new Map([["model", JSON.stringify(request.model)]]);
  for (const [key, json] of lists) if (json !== "[]") parts.set(key, json);
  const others = {
    tool_choice: toolChoice,
    max_tokens: maxTokens,
    temperature,
    thinking,
    output_config: effort === undefined ? undefined : { effort },
    stream: true,
    ...extraBody,
  };
  for (const [key, value] of Object.entries(others)) {
    const json: string | undefined = JSON.stringify(value);
    if (json !== undefined) parts.set(key, json);
  }
  const pairs = [...parts].map(([key, json]) => `${JSON.stringify(key)}:${json}`);
  return new TextEncoder().encode(`{${pairs.join(",")}}`);
}

function listOf(items: readonly (string | Block)[]): string {
  return `[${items.map((item) => (typeof item === "string" ? item : item.json)).join(",")}]`;
}

function turnJson({ role, blocks }: Turn): string {
  return `{"role":"${role}","content":${listOf(blocks)}}`;
}

/** The prompt up to here is kept in the provider's cache. The protocol allows four of these. */
const MARKER = ',"cache_control":{"type":"ephemeral"}}';

function marked<Item extends Block>(blocks: readonly Item[]): readonly Block[] {
  const last = blocks.at(-1);
  return last === undefined
    ? []
    : [...blocks.slice(0, -1), { ...last, json: last.json.slice(0, -1) + MARKER }];
}

/**
 * Marks the ends of the last two messages of the user. Where one request wrote to the cache with its last,
 * the next reads with its second to last.
 */
function markTail(turns: readonly Turn[]): readonly Turn[] {
  const ends = turns.flatMap(({ role }, index) => (role === "user" ? [index] : [])).slice(-2);
  return turns.map((turn, index) =>
    ends.includes(index) ? { ...turn, blocks: [...marked(turn.blocks)] } : turn,
  );
}

/** Computes once for each key. A conversation is sent again with every turn, and most of it is the same. */
function memoized<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, Value>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const value = compute(key);
    known.set(key, value);
    return value;
  };
}

/** The protocol refuses these at the top of a schema. The call is checked against the whole of it here. */
const NOT_AT_THE_TOP = new Set(["anyOf", "oneOf", "allOf"]);

const toolJson = memoized(({ name, description, parameters }: ToolDefinition) => {
  const schema = Object.entries(parameters).filter(([key]) => !NOT_AT_THE_TOP.has(key));
  return JSON.stringify({
    name,
    ...(description === "" ? {} : { description }),
    input_schema: Object.fromEntries(schema),
  });
});

/** Text without a letter is refused. */
function textBlocks(text: string): Block[] {
  return text.trim() === "" ? [] : [{ type: "text", json: JSON.stringify({ type: "text", text }) }];
}

function systemBlocks(messages: readonly ChatMessage[]): Block[] {
  return messages.flatMap((message) => (message.role === "system" ? textBlocks(message.content) : []));
}

const userBlocks = memoized(({ content, images = [] }: UserMessage): readonly Block[] => [
  ...images.map(({ mime, data }) => ({
    type: "image",
    json: JSON.stringify({ type: "image", source: { type: "base64", media_type: mime, data } }),
  })),
  ...textBlocks(content),
]);

/** Opaque, and given back word for word. */
const thinkingOf = memoized(({ thinkingBlocks = [] }: AssistantMessage): readonly Block[] =>
  thinkingBlocks.flatMap((block) => {
    const type = isObject(block) ? block["type"] : undefined;
    return type === "thinking" || type === "redacted_thinking" ? [{ type, json: JSON.stringify(block) }] : [];
  }),
);

/** A call without its id, which depends on the calls before it. */
const callTail = memoized(
  ({ name, arguments: text }: ToolCall) =>
    `"name":${JSON.stringify(name)},"input":${acceptableArguments(text)}}`,
);

const resultTail = memoized(({ content }: ToolMessage) => {
  const said = content.trim() === "" ? "" : `,"content":${JSON.stringify(content)}`;
  return content.startsWith("Error: ") ? `${said},"is_error":true}` : `${said}}`;
});

/** Messages of one role after another become one, the first is the user's, and so is the last. */
function toTurns(messages: readonly ChatMessage[], replayed: ReadonlySet<ChatMessage>): Turn[] {
  const ids = createWireIds();
  const turns: Turn[] = [];

  function add(role: Turn["role"], blocks: readonly Block[]): void {
    const previous = turns.at(-1);
    if (blocks.length === 0) return;
    if (previous?.role === role) previous.blocks.push(...blocks);
    else turns.push({ role, blocks: [...blocks] });
  }

  for (const message of messages) {
    if (message.role === "user") add("user", userBlocks(message));
    else if (message.role === "tool") add("user", [resultBlock(message, ids.answer(message.toolCallId))]);
    else if (message.role === "assistant") {
      const calls = (message.toolCalls ?? []).map((call) => callBlock(call, ids.call(call.id)));
      const said = [...textBlocks(message.content), ...calls];
      // Thinking alone is no message.
      if (said.length > 0) add("assistant", [...(replayed.has(message) ? thinkingOf(message) : []), ...said]);
    }
  }
  // It would be taken for the beginning of the reply.
  if (turns.at(-1)?.role === "assistant") turns.pop();
  return turns[0]?.role === "user" ? turns : [{ role: "user", blocks: textBlocks("(continued)") }, ...turns];
}

function callBlock(call: ToolCall, id: string): Block {
  return { type: "tool_use", json: `{"type":"tool_use","id":"${id}",${callTail(call)}` };
}

function resultBlock(message: ToolMessage, id: string): Block {
  return { type: "tool_result", json: `{"type":"tool_result","tool_use_id":"${id}"${resultTail(message)}` };
}

const LONGEST_ID = 64;

/** Ids as the protocol takes them, each once in a conversation, and the same for a call and its result. */
function createWireIds() {
  const uses = new Map<string, number>();
  const taken = new Set<string>();
  const open = new Map<string, string[]>();

  function unused(id: string): string {
    const base = acceptableId(id);
    for (let count = (uses.get(base) ?? 0) + 1; ; count++) {
      const candidate = count === 1 ? base : `${base}_${count}`;
      if (taken.has(candidate)) continue;
      uses.set(base, count);
      taken.add(candidate);
      return candidate;
    }
  }

  return {
    call(id: string): string {
      const wireId = unused(id);
      open.set(id, [...(open.get(id) ?? []), wireId]);
      return wireId;
    },
    answer: (id: string): string => open.get(id)?.shift() ?? acceptableId(id),
  };
}

function acceptableId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/gu, "_").slice(0, LONGEST_ID) || "call";
}

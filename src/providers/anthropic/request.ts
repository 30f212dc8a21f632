/** A request in the form of Anthropic's Messages protocol. */

import { Buffer } from "node:buffer";
import type { AssistantMessage, ChatMessage, ChatRequest, ToolDefinition } from "../../core/model.ts";
import type { ExtraBody } from "../wire/extra-body.ts";
import type { Encoded } from "../wire/learner.ts";
import { memoized } from "../wire/memo.ts";
import { holdsThinking, systemBytes, TURN_ENDS } from "./blocks.ts";
import type { AnthropicQuirks } from "./quirks.ts";
import { type Settings, settingsFor, thinks } from "./settings.ts";
import { roleOf, type Turn, takesBudget, toTurns } from "./turns.ts";

export interface EncodeOptions {
  readonly quirks: AnthropicQuirks;
  /** Whether this message's thinking may go back, which is for the model that thought it alone. */
  readonly mayReplay: (message: AssistantMessage) => boolean;
  /** Put over the request's own keys, but for the conversation. */
  readonly extraBody: ExtraBody;
}

export interface EncodedRequest extends Encoded {
  readonly settings: Settings;
  /** The messages whose thinking went back. */
  readonly replayed: ReadonlySet<AssistantMessage>;
}

/** The same request always gives the same bytes. */
export function encodeAnthropic(
  request: ChatRequest,
  { quirks, mayReplay, extraBody }: EncodeOptions,
): EncodedRequest {
  const thoughtful = new Set<AssistantMessage>();
  for (const message of request.messages) {
    if (message.role === "assistant" && holdsThinking(message) && mayReplay(message)) thoughtful.add(message);
  }
  const whole = toTurns(request.messages, thoughtful);
  const settings = settingsFor(request, quirks, takesBudget(whole));
  const replayed = thinks(settings, quirks) ? thoughtful : new Set<AssistantMessage>();
  const turns = replayed.size === thoughtful.size ? whole : toTurns(request.messages, replayed);
  return { body: encodeBody(request, settings, turns, extraBody), settings, replayed };
}

/** What stays the same from turn to turn comes first. */
function encodeBody(
  { model: name, messages, tools }: ChatRequest,
  { maxTokens, temperature, thinking, effort, toolChoice }: Settings,
  turns: readonly Turn[],
  extraBody: ExtraBody,
): Uint8Array<ArrayBuffer> {
  const { model, ...others } = {
    model: name,
    tool_choice: toolChoice,
    max_tokens: maxTokens,
    temperature,
    thinking,
    output_config: effort === undefined ? undefined : { effort },
    stream: true,
    ...extraBody,
  };
  const parts: Uint8Array[] = [Buffer.from(`{"model":${JSON.stringify(model)}`)];
  pushSystem(parts, messages);
  if (tools.length > 0) parts.push(toolsPart(tools));
  pushTurns(parts, turns);
  parts.push(Buffer.from(`,${JSON.stringify(others).slice(1)}`));
  return Buffer.concat(parts);
}

const COMMA = Buffer.from(",");
const EMPTY = Buffer.from("");

/** The prompt up to here is kept in the provider's cache. The protocol allows four of these. */
const MARKER = ',"cache_control":{"type":"ephemeral"}}';
const MARKER_BYTES = Buffer.from(MARKER);

function pushMarked(parts: Uint8Array[], bytes: Uint8Array): void {
  parts.push(bytes.subarray(0, -1), MARKER_BYTES);
}

const SYSTEM_OPENS = Buffer.from(',"system":[');
const SYSTEM_CLOSES = Buffer.from("]");

function pushSystem(parts: Uint8Array[], messages: readonly ChatMessage[]): void {
  const said: Uint8Array[] = [];
  for (const message of messages) {
    const bytes = message.role === "system" ? systemBytes(message) : EMPTY;
    if (bytes.length > 0) said.push(bytes);
  }
  for (const [index, bytes] of said.entries()) {
    parts.push(index === 0 ? SYSTEM_OPENS : COMMA);
    if (index < said.length - 1) parts.push(bytes);
    else pushMarked(parts, bytes);
  }
  if (said.length > 0) parts.push(SYSTEM_CLOSES);
}

const MESSAGES_OPEN = Buffer.from(',"messages":[');
const MESSAGES_CLOSE = Buffer.from("]}]");

/**
 * Marks the ends of the last two turns of the user. Where one request wrote to the cache with its last, the
 * next reads with its second to last.
 */
function pushTurns(parts: Uint8Array[], turns: readonly Turn[]): void {
  // They take turns, and the last is the user's.
  const firstMarked = turns.length - 3;
  parts.push(MESSAGES_OPEN);
  turns.forEach((turn, index) => {
    const isMarked = index >= firstMarked && roleOf(turn) === "user";
    turn.forEach(({ bytes, asTurn }, part) => {
      if (part > 0) parts.push(COMMA);
      const begun = index === 0 ? asTurn.subarray(TURN_ENDS.length) : asTurn;
      const whole = part === 0 ? begun : bytes;
      if (isMarked && part === turn.length - 1) pushMarked(parts, whole);
      else parts.push(whole);
    });
  });
  parts.push(MESSAGES_CLOSE);
}

/** Tools are the same list in every request. */
const toolsPart = memoized((tools: readonly ToolDefinition[]) => {
  const list = tools.map(toolJson).join(",").slice(0, -1) + MARKER;
  return Buffer.from(`,"tools":[${list}]`);
});

/** The protocol refuses these at the top of a schema. The call is checked against the whole of it here. */
const NOT_AT_THE_TOP = new Set(["anyOf", "oneOf", "allOf"]);

function toolJson({ name, description, parameters }: ToolDefinition): string {
  const schema = Object.entries(parameters).filter(([key]) => !NOT_AT_THE_TOP.has(key));
  return JSON.stringify({
    name,
    ...(description === "" ? {} : { description }),
    input_schema: Object.fromEntries(schema),
  });
}

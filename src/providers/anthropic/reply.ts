/** Puts a reply together from the events of a stream of Anthropic's Messages protocol. */

import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ChatDelta, ToolCall, Usage } from "../../core/model.ts";
import { isObject } from "../../lib/is-object.ts";
import { wellFormed } from "../../lib/text.ts";
import { createDeltaText } from "../wire/delta-text.ts";
import { BadReply, Refusal } from "../wire/model-failure.ts";
import type { ReplyBuilder } from "../wire/wire-model.ts";

type Fields = { readonly [key: string]: unknown };

/** A block of the reply that is more than text. Its strings grow with the deltas. */
type OpenBlock =
  | { readonly type: "call"; id: string; name: string; input: string; readonly given: unknown }
  | { readonly type: "thinking"; readonly first: Fields; thinking: string; signature: string }
  | { readonly type: "redacted"; readonly first: Fields };

const MOST_BLOCKS = 256;

export function createAnthropicReply({
  onDelta,
  newCallId,
}: {
  onDelta: (delta: ChatDelta) => void;
  /** For calls that came without an id, or with another's. */
  newCallId: () => string;
}): ReplyBuilder {
  const text = createDeltaText("text", onDelta);
  const reasoning = createDeltaText("reasoning", onDelta);
  const blocks: OpenBlock[] = [];
  const byIndex = new Map<number, OpenBlock>();
  let index = 0;
  let hasText = false;
  let apart = false;
  let stopReason = "";
  let counts: Fields = {};
  let started = false;
  let stopped = false;

  function addText(piece: string): void {
    if (piece === "") return;
    // Behind a block of another kind it goes on in a paragraph of its own.
    text.add(hasText && apart ? `\n\n${piece}` : piece);
    hasText = true;
    apart = false;
  }

  function keep(block: OpenBlock): void {
    if (blocks.length >= MOST_BLOCKS) {
      throw new BadReply(`sent more than ${MOST_BLOCKS} calls and thoughts in one reply`);
    }
    blocks.push(block);
    byIndex.set(index, block);
  }

  function open(first: Fields): void {
    const type = first["type"];
    byIndex.delete(index);
    if (type === "text") {
      addText(textOf(first["text"]));
      return;
    }
    apart = true;
    if (type === "tool_use") {
      const { id, name, input } = first;
      keep({ type: "call", id: textOf(id), name: textOf(name), input: "", given: input });
    } else if (type === "redacted_thinking") {
      keep({ type: "redacted", first });
    } else if (type === "thinking") {
      keep({ type: "thinking", first, thinking: "", signature: textOf(first["signature"]) });
      think(textOf(first["thinking"]));
    }
  }

  function think(piece: string): void {
    const block = byIndex.get(index);
    if (block?.type === "thinking") block.thinking += piece;
    reasoning.add(piece);
  }

  function grow(delta: Fields): void {
    const block = byIndex.get(index);
    switch (delta["type"]) {
      case "text_delta":
        addText(textOf(delta["text"]));
        break;
      case "thinking_delta":
        think(textOf(delta["thinking"]));
        break;
      case "signature_delta":
        if (block?.type === "thinking") block.signature += textOf(delta["signature"]);
        break;
      case "input_json_delta":
        if (block?.type === "call") block.input += textOf(delta["partial_json"]);
    }
  }

  function finishWith(fields: unknown, usage: unknown): void {
    if (isObject(fields)) stopReason = textOf(fields["stop_reason"]) || stopReason;
    // Later numbers are totals and stand in for earlier ones, where they are given.
    if (isObject(usage)) counts = { ...counts, ...withoutNulls(usage) };
  }

  function addWhole(message: Fields): void {
    const content: unknown = message["content"];
    for (const block of Array.isArray(content) ? (content as unknown[]) : [])
      if (isObject(block)) open(block);
    finishWith(message, message["usage"]);
  }

  function add(event: Fields): void {
    started = true;
    if (typeof event["index"] === "number") index = event["index"];
    const { content_block: block, delta, message, usage } = event;
    switch (event["type"]) {
      case "message":
        addWhole(event);
        break;
      case "message_start":
        if (isObject(message)) finishWith(undefined, message["usage"]);
        break;
      case "content_block_start":
        if (isObject(block)) open(block);
        break;
      case "content_block_delta":
        if (isObject(delta)) grow(delta);
        break;
      case "message_delta":
        finishWith(delta, usage);
        break;
      case "message_stop":
        stopped = true;
    }
  }

  return {
    add(event) {
      if (!isObject(event)) return;
      if (event["type"] === "error") throw refusalOf(event["error"]);
      // Newer servers have events that older clients do not know.
      if (KNOWN_EVENTS.has(textOf(event["type"]))) add(event);
    },
    get complete() {
      return stopped || stopReason !== "";
    },
    get started() {
      return started;
    },
    get ended() {
      return stopped;
    },
    partial: () => text.end(),
    finish() {
      if (stopReason === "refusal") {
        throw new BadReply("stopped its reply because of its content filter", { kind: "contentFilter" });
      }
      reasoning.end();
      const usage = usageOf(counts);
      const thinkingBlocks = thinkingOf(blocks);
      return {
        ok: true,
        content: text.end(),
        toolCalls: callsOf(blocks, newCallId),
        finishReason: stopReason,
        ...(CUT_OFF.has(stopReason) ? { cutOff: true } : {}),
        ...(usage === undefined ? {} : { usage }),
        ...(thinkingBlocks.length === 0 ? {} : { thinkingBlocks }),
      };
    },
  };
}

const KNOWN_EVENTS = new Set([
  "message",
  "message_start",
  "content_block_start",
  "content_block_delta",
  "message_delta",
  "message_stop",
]);

const CUT_OFF = new Set(["max_tokens", "model_context_window_exceeded"]);

/** An error inside the stream has a type in the place of a status. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

function refusalOf(error: unknown): Refusal {
  const status = isObject(error) ? STATUSES[textOf(error["type"])] : undefined;
  return new Refusal({ ...(status === undefined ? {} : { status }), body: JSON.stringify({ error }) });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function callsOf(blocks: readonly OpenBlock[], newCallId: () => string): ToolCall[] {
  const taken = new Set<string>();
  return blocks.flatMap((block) => {
    if (block.type !== "call" || (block.name === "" && block.input === "")) return [];
    const id = block.id === "" || taken.has(block.id) ? newCallId() : wellFormed(block.id);
    taken.add(id);
    // Servers that do not stream give the input at once.
    const given = isObject(block.given) ? JSON.stringify(block.given) : "{}";
    return [{ id, name: wellFormed(block.name), arguments: wellFormed(block.input) || given }];
  });
}

/** Word for word: a block that is changed is refused. One that cannot be stored unchanged is left out. */
function thinkingOf(blocks: readonly OpenBlock[]): JsonValue[] {
  return blocks.flatMap((block) => {
    if (block.type === "call") return [];
    const { first } = block;
    const whole = block.type === "redacted" ? first : grown(block);
    const isWhole = Object.values(whole).every((value) => typeof value !== "string" || value.isWellFormed());
    // It was decoded from JSON, and only strings were added.
    return isWhole ? [whole as JsonObject] : [];
  });
}

function grown({ first, thinking, signature }: Extract<OpenBlock, { type: "thinking" }>): Fields {
  return { ...first, thinking, ...(signature === "" ? {} : { signature }) };
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function usageOf(counts: Fields): Usage | undefined {
  if (Object.keys(counts).length === 0) return undefined;
  const count = (value: unknown) =>
    typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : 0;
  const details = counts["output_tokens_details"];
  const cached = count(counts["cache_read_input_tokens"]);
  return {
    input: count(counts["input_tokens"]) + count(counts["cache_creation_input_tokens"]) + cached,
    output: count(counts["output_tokens"]),
    cached,
    reasoning: isObject(details) ? count(details["thinking_tokens"]) : 0,
  };
}

/** Puts a reply together from the events of a stream of Anthropic's Messages protocol. */

import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { Usage } from "../../core/model.ts";
import { isObject } from "../../lib/is-object.ts";
import { jsonOf } from "../../lib/lenient-json.ts";
import { countOf, type Fields, fieldsOf, objectsIn, textOf } from "../wire/fields.ts";
import { argumentsOf, type CollectedCall, finishCalls } from "../wire/reply-calls.ts";
import { checkRoom, contentFiltered, refusalIn } from "../wire/reply-failures.ts";
import { createSpokenText, type SpokenTextOptions } from "../wire/spoken-text.ts";
import type { ReplyBuilder } from "../wire/wire-model.ts";

/** A block of the reply that is more than text. Its strings grow with the deltas. */
type OpenBlock =
  | { readonly type: "call"; id: string; name: string; input: string; readonly given: unknown }
  | { readonly type: "thinking"; readonly first: Fields; thinking: string; signature: string }
  | { readonly type: "redacted"; readonly first: Fields };

export function createAnthropicReply(options: SpokenTextOptions): ReplyBuilder {
  const spoken = createSpokenText(options);
  const blocks: OpenBlock[] = [];
  const byIndex = new Map<number, OpenBlock>();
  let index = 0;
  let hasText = false;
  let apart = false;
  let stopReason = "";
  let counts: Fields | undefined;
  let started = false;
  let stopped = false;

  function addText(piece: string): void {
    if (piece === "") return;
    // Behind a block of another kind it goes on in a paragraph of its own.
    spoken.say(hasText && apart ? `\n\n${piece}` : piece);
    hasText = true;
    apart = false;
  }

  function keep(block: OpenBlock): void {
    checkRoom(blocks.length, "tool calls and thoughts");
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
    spoken.think(piece);
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
    if (isObject(usage)) counts = countsIn(usage, counts ?? {});
  }

  function addWhole(message: Fields): void {
    for (const block of objectsIn(message["content"])) open(block);
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
      if (event["type"] === "error") throw refusalIn(event["error"], statusOf);
      // Newer servers have events that older clients do not know.
      if (KNOWN_EVENTS.has(textOf(event["type"]))) add(event);
    },
    get complete() {
      return stopped || stopReason !== "";
    },
    get started() {
      return started;
    },
    get usage() {
      return counts && usageOf(counts);
    },
    get ended() {
      return stopped;
    },
    partial: spoken.partial,
    finish() {
      if (stopReason === "refusal") throw contentFiltered();
      const { content, toolCalls } = spoken.finish(finishCalls(callsIn(blocks), options.newCallId), {
        cutOff: CUT_OFF.has(stopReason),
      });
      const usage = counts && usageOf(counts);
      const thinkingBlocks = thinkingOf(blocks);
      return {
        ok: true,
        content,
        toolCalls,
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
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  ["invalid_request_error", 400],
  ["authentication_error", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["api_error", 500],
  ["timeout_error", 504],
  ["overloaded_error", 529],
]);

function statusOf({ type }: Fields): number | undefined {
  return STATUSES.get(type);
}

function callsIn(blocks: readonly OpenBlock[]): CollectedCall[] {
  return blocks.flatMap((block) => {
    if (block.type !== "call") return [];
    const { id, name, input, given } = block;
    // Servers that do not stream give the input at once. An empty object stands for what is to come.
    const isGiven = input === "" && isObject(given) && Object.keys(given).length > 0;
    return [{ id, name, arguments: isGiven ? argumentsOf(given) : input }];
  });
}

/** Word for word: a block that is changed is refused. One that cannot be stored unchanged is left out. */
function thinkingOf(blocks: readonly OpenBlock[]): JsonValue[] {
  return blocks.flatMap((block) => {
    if (block.type === "call") return [];
    const { first } = block;
    const whole = block.type === "redacted" ? first : grown(block);
    const isWhole =
      jsonOf(whole) !== undefined &&
      Object.values(whole).every((value) => typeof value !== "string" || value.isWellFormed());
    // It was decoded from JSON, and only strings were added.
    return isWhole ? [whole as JsonObject] : [];
  });
}

function grown({ first, thinking, signature }: Extract<OpenBlock, { type: "thinking" }>): Fields {
  return { ...first, thinking, ...(signature === "" ? {} : { signature }) };
}

const COUNTS = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens",
  "output_tokens_details",
] as const;

/** Later numbers are totals and stand in for earlier ones, where they are given. */
function countsIn(usage: Fields, before: Fields): Fields {
  return Object.fromEntries(COUNTS.map((name) => [name, usage[name] ?? before[name]]));
}

function usageOf(counts: Fields): Usage {
  const cached = countOf(counts["cache_read_input_tokens"]) ?? 0;
  const written = countOf(counts["cache_creation_input_tokens"]) ?? 0;
  return {
    input: (countOf(counts["input_tokens"]) ?? 0) + written + cached,
    output: countOf(counts["output_tokens"]) ?? 0,
    cached,
    reasoning: countOf(fieldsOf(counts["output_tokens_details"])["thinking_tokens"]) ?? 0,
  };
}

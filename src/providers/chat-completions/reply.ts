/** Puts a reply together from the chunks of a chat-completions stream, however a vendor shapes them. */

import type { ChatDelta, ToolCall, Usage } from "../../core/model.ts";
import { isObject } from "../../lib/is-object.ts";
import { jsonOf } from "../../lib/lenient-json.ts";
import { wellFormed } from "../../lib/text.ts";
import { parseTextCalls, type TextCall } from "../../lib/text-calls.ts";
import type { Segment } from "../../lib/think/reply-segments.ts";
import { createThinkFilter, type ThinkFilter } from "../../lib/think/think-filter.ts";
import { createDeltaText } from "../wire/delta-text.ts";
import { BadReply, Refusal } from "../wire/model-failure.ts";
import type { ReplyBuilder } from "../wire/wire-model.ts";
import { createWireCalls } from "./calls.ts";
import { usageOf } from "./usage.ts";

export interface WireReplyOptions {
  readonly onDelta: (delta: ChatDelta) => void;
  /** For calls that came without an id. */
  readonly newCallId: () => string;
  /** Tools were offered, so that calls which come as text are calls. */
  readonly toolsOffered?: boolean;
  /** The text may begin inside a block of reasoning. */
  readonly startsInside?: boolean;
  /** The text had a closer without an opener: this model's replies may begin inside a block of reasoning. */
  readonly onOrphanClose?: () => void;
  /** Reasoning is the answer when there is no other. */
  readonly reasoningIsAnswer?: boolean;
}

type Fields = { readonly [key: string]: unknown };

const MOST_TEXT_CALLS = 256;
const CUT_OFF = /^(?:length|max_tokens|max_output_tokens|model_length)$/i;
const FILTERED = ["content_filter", "sensitive"];
const THOUGHT_PARTS: readonly unknown[] = ["thinking", "reasoning", "reasoning_content"];

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function objectsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isObject) : [];
}

/** Text, or a list of parts that have some. */
function textIn(value: unknown): string {
  const parts = objectsIn(value).map((part) => textOf(part["text"]) || textOf(part["summary"]));
  return textOf(value) + parts.join("");
}

/** Vendors say the same thought in more than one field, so only the first that holds any counts. */
function reasoningIn(delta: Fields): string {
  return (
    textOf(delta["reasoning_content"]) || textOf(delta["reasoning"]) || textIn(delta["reasoning_details"])
  );
}

export function createReplyBuilder({
  onDelta,
  newCallId,
  toolsOffered = false,
  startsInside = false,
  onOrphanClose = () => {},
  reasoningIsAnswer = false,
}: WireReplyOptions): ReplyBuilder {
  const text = createDeltaText("text", onDelta);
  const reasoning = createDeltaText("reasoning", onDelta);
  const calls = createWireCalls();
  const textCalls: TextCall[] = [];
  let hasCalls = false;
  let hasReasoning = false;
  let filter: ThinkFilter | undefined;
  let finishReason = "";
  let usage: Usage | undefined;
  let started = false;

  function think(piece: string): void {
    hasReasoning ||= piece !== "";
    reasoning.add(piece);
  }

  function addTextCall(inside: string): void {
    const found = parseTextCalls(inside);
    if (found === undefined) {
      if (!hasCalls) text.add(`<tool_call>${inside}</tool_call>`);
      return;
    }
    textCalls.push(...found);
    if (textCalls.length > MOST_TEXT_CALLS) {
      throw new BadReply(`asked for more than ${MOST_TEXT_CALLS} tool calls at once`);
    }
  }

  function take(segments: readonly Segment[]): void {
    for (const segment of segments) {
      if (segment.kind === "text") text.add(segment.text);
      else if (segment.kind === "reasoning") think(segment.text);
      else addTextCall(segment.text);
    }
  }

  function say(piece: string): void {
    if (piece === "") return;
    // A server that tells the reasoning apart does not leave half of it in the text.
    filter ??= createThinkFilter({ startsInside: startsInside && !hasReasoning, toolCalls: toolsOffered });
    take(filter.push(piece));
  }

  function addContent(content: unknown): void {
    say(textOf(content));
    for (const part of objectsIn(content)) {
      think(textIn(part["thinking"]));
      const add = THOUGHT_PARTS.includes(part["type"]) ? think : say;
      add(textOf(part["text"]));
    }
  }

  function addDelta(delta: Fields): void {
    started = true;
    think(reasoningIn(delta));
    addContent(delta["content"]);
    text.add(textOf(delta["refusal"]));
    for (const call of objectsIn(delta["tool_calls"])) {
      hasCalls = true;
      calls.add(call);
    }
  }

  /** The protocol's own calls, or else those in the text. Servers that know them there send both. */
  function allCalls(): readonly ToolCall[] {
    const native = calls.finish(newCallId);
    if (native.length > 0) return native;
    return textCalls.map((call) => ({
      id: newCallId(),
      name: wellFormed(call.name),
      arguments: wellFormed(call.arguments) || "{}",
    }));
  }

  return {
    add(chunk) {
      if (!isObject(chunk)) return;
      if (chunk["error"]) throw refusalOf(chunk["error"]);
      const choices = chunk["choices"];
      const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
      usage = usageOf(chunk, choice) ?? usage;
      if (!isObject(choice)) return;
      const delta = choice["delta"] ?? choice["message"];
      if (isObject(delta)) addDelta(delta);
      finishReason = textOf(choice["finish_reason"]) || finishReason;
    },
    get complete() {
      return finishReason !== "";
    },
    get started() {
      return started;
    },
    // What the filter still holds may be reasoning, so it is no part of it.
    partial: () => text.end(),
    finish() {
      if (FILTERED.includes(finishReason)) {
        throw new BadReply("stopped its reply because of its content filter", { kind: "contentFilter" });
      }
      if (finishReason === "error") throw new BadReply("failed in the middle of its reply");
      take(filter?.end() ?? []);
      if (filter?.sawOrphanClose) onOrphanClose();
      const toolCalls = allCalls();
      const thought = reasoning.end();
      const isAnswer = reasoningIsAnswer && toolCalls.length === 0 && text.end().trim() === "";
      if (isAnswer) text.add(thought);
      return {
        ok: true,
        content: text.end(),
        toolCalls,
        finishReason,
        ...(CUT_OFF.test(finishReason) ? { cutOff: true } : {}),
        ...(usage ? { usage } : {}),
        ...(thought === "" || isAnswer ? {} : { reasoningContent: thought }),
      };
    },
  };
}

/** An error inside the stream carries its status, if any, as its code. */
function refusalOf(error: unknown): Refusal {
  const code = isObject(error) ? Number(error["code"] ?? error["status"]) : Number.NaN;
  const status = Number.isInteger(code) && code >= 400 && code <= 599 ? { status: code } : {};
  return new Refusal({ ...status, body: jsonOf({ error }) ?? "" });
}

/** Puts a reply together from the events of a Responses stream, or from a whole response. */

import type { JsonObject } from "../../core/json.ts";
import type { ChatDelta, Usage } from "../../core/model.ts";
import { isObject } from "../../lib/is-object.ts";
import { wellFormed } from "../../lib/text.ts";
import { createDeltaText } from "../wire/delta-text.ts";
import { BadReply } from "../wire/model-failure.ts";
import type { ReplyBuilder } from "../wire/wire-model.ts";
import { carriesThought, createCalls, createPieces, createPlaces, textOf } from "./parts.ts";
import { refusalOf } from "./refusal.ts";

type Fields = { readonly [key: string]: unknown };

export function createResponsesReply({
  onDelta,
  newCallId,
}: {
  onDelta: (delta: ChatDelta) => void;
  /** For calls that came without an id, or with one that is taken. */
  newCallId: () => string;
}): ReplyBuilder {
  const text = createPieces(createDeltaText("text", onDelta));
  const reasoning = createPieces(createDeltaText("reasoning", onDelta));
  const messages = createPlaces();
  const thoughts = createPlaces();
  const calls = createCalls();
  /** Reasoning items to be given back, by their place. */
  const kept = new Map<string, JsonObject>();
  let phase = "";
  let usage: Usage | undefined;
  let finishReason = "";
  let complete = false;
  let cutOff = false;
  let started = false;

  function addMessage(place: string, item: Fields): void {
    phase = textOf(item["phase"]) || phase;
    for (const [index, part] of listOf(item["content"]).entries()) {
      text.settle(`${place}/${index}`, place, textOf(part["text"]) || textOf(part["refusal"]));
    }
  }

  function addThought(place: string, item: Fields): void {
    for (const [kind, list] of [
      ["s", listOf(item["summary"])],
      ["c", listOf(item["content"])],
    ] as const) {
      for (const [index, part] of list.entries()) {
        const name = `${place}/${kind}${index}`;
        reasoning.settle(name, name, textOf(part["text"]));
      }
    }
    // One that was cut off cannot be read by anybody, and the first to be whole is the one to give back.
    const isWhole = item["status"] !== "incomplete" && carriesThought(item);
    if (isWhole && !kept.has(place)) kept.set(place, opaque(item));
  }

  function addItem(event: Fields, isDone: boolean): void {
    const { item } = event;
    if (!isObject(item)) return;
    const { type } = item;
    started = true;
    if (type === "message") addMessage(messages.of(event), item);
    if (type === "function_call") calls.addItem(calls.places.of(event), item, isDone);
    // What the maker reads may be incomplete before the end.
    if (type === "reasoning" && isDone) addThought(thoughts.of(event), item);
  }

  /** What came in pieces is known by its order among its kind: some servers leave items out of the whole. */
  function addOutput(output: readonly Fields[]): void {
    const of = (type: string) => output.filter((item) => item["type"] === type).entries();
    for (const [index, item] of of("reasoning")) addThought(thoughts.at(index), item);
    for (const [index, item] of of("message")) addMessage(messages.at(index), item);
    for (const [index, item] of of("function_call")) calls.addItem(calls.places.at(index), item, true);
  }

  function addResponse(response: Fields): void {
    const { status, error } = response;
    usage = usageOf(response["usage"]) ?? usage;
    if (status === "failed" || isObject(error)) throw refusalOf(error);
    if (status === "cancelled") throw new BadReply("cancelled its reply");
    started = true;
    addOutput(listOf(response["output"]));
    const details = response["incomplete_details"];
    const reason = isObject(details) ? textOf(details["reason"]) : "";
    cutOff = status === "incomplete";
    finishReason = (cutOff && reason) || textOf(status);
    complete = true;
  }

  function addText(event: Fields, whole: unknown, isDone: boolean): void {
    started = true;
    const place = messages.of(event);
    const part = `${place}/${Number(event["content_index"] ?? 0)}`;
    if (isDone) text.settle(part, place, textOf(whole));
    else text.add(part, place, textOf(whole));
  }

  function addArguments(event: Fields, isDone: boolean): void {
    started = true;
    const place = calls.places.of(event);
    if (isDone) calls.setArguments(place, event["arguments"]);
    else calls.addArguments(place, event["delta"]);
  }

  function addReasoning(event: Fields, isDone: boolean): void {
    started = true;
    const { summary_index: summary, content_index: content } = event;
    const part = `${thoughts.of(event)}/${summary === undefined ? `c${content ?? 0}` : `s${summary}`}`;
    if (isDone) reasoning.settle(part, part, textOf(event["text"]));
    else reasoning.add(part, part, textOf(event["delta"]));
  }

  /** Whatever else there is, of other tools and of progress, says nothing about the answer. */
  const handlers = new Map<string, (event: Fields) => void>([
    ["response.output_item.added", (event) => addItem(event, false)],
    ["response.output_item.done", (event) => addItem(event, true)],
    ["response.output_text.delta", (event) => addText(event, event["delta"], false)],
    ["response.output_text.done", (event) => addText(event, event["text"], true)],
    ["response.refusal.delta", (event) => addText(event, event["delta"], false)],
    ["response.refusal.done", (event) => addText(event, event["refusal"], true)],
    ["response.reasoning_summary_text.delta", (event) => addReasoning(event, false)],
    ["response.reasoning_summary_text.done", (event) => addReasoning(event, true)],
    ["response.reasoning_text.delta", (event) => addReasoning(event, false)],
    ["response.reasoning_text.done", (event) => addReasoning(event, true)],
    ["response.function_call_arguments.delta", (event) => addArguments(event, false)],
    ["response.function_call_arguments.done", (event) => addArguments(event, true)],
    ["response.completed", ({ response }) => addResponse({ status: "completed", ...objectOf(response) })],
    ["response.incomplete", ({ response }) => addResponse({ ...objectOf(response), status: "incomplete" })],
    ["response.failed", ({ response }) => addResponse({ ...objectOf(response), status: "failed" })],
    ["response.cancelled", () => addResponse({ status: "cancelled" })],
    ["error", fail],
  ]);

  function thinkingBlocks(): JsonObject[] {
    // What is kept beside them is the one thing of a message that some models want to hear again.
    return [...kept.values(), ...(phase === "" ? [] : [{ type: "message", phase }])];
  }

  return {
    add(chunk) {
      if (!isObject(chunk)) return;
      const { type, error, output } = chunk;
      if (typeof type === "string") handlers.get(type)?.(chunk);
      else if (error) throw refusalOf(error);
      else if (Array.isArray(output)) addResponse(chunk);
    },
    get complete() {
      return complete;
    },
    get ended() {
      return complete;
    },
    get started() {
      return started;
    },
    partial: () => text.end(),
    finish() {
      if (finishReason === "content_filter") {
        throw new BadReply("stopped its reply because of its content filter", { kind: "contentFilter" });
      }
      reasoning.end();
      const blocks = thinkingBlocks();
      return {
        ok: true,
        content: text.end(),
        toolCalls: calls.finish(newCallId),
        finishReason,
        ...(cutOff ? { cutOff } : {}),
        ...(usage ? { usage } : {}),
        ...(blocks.length === 0 ? {} : { thinkingBlocks: blocks }),
      };
    },
  };
}

/** Documented flat, and often sent nested. */
function fail(event: Fields): never {
  throw refusalOf(event["error"] ?? event);
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isObject) : [];
}

function objectOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** As it came, for its maker alone. Its text is stored with the session, so it must be well-formed. */
function opaque(item: Fields): JsonObject {
  return JSON.parse(JSON.stringify(item), (_key, value: unknown) =>
    typeof value === "string" ? wellFormed(value) : value,
  ) as JsonObject;
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : 0;
}

function usageOf(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const { cost } = usage;
  return {
    input: count(usage["input_tokens"]),
    output: count(usage["output_tokens"]),
    cached: count(objectOf(usage["input_tokens_details"])["cached_tokens"]),
    reasoning: count(objectOf(usage["output_tokens_details"])["reasoning_tokens"]),
    ...(typeof cost === "number" ? { cost: count(cost) } : {}),
  };
}

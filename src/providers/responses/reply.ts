/** Puts a reply together from the events of a Responses stream, or from a whole response. */

import type { JsonObject } from "../../core/json.ts";
import type { Usage } from "../../core/model.ts";
import { isObject } from "../../lib/is-object.ts";
import { jsonOf } from "../../lib/lenient-json.ts";
import { wellFormed } from "../../lib/text.ts";
import { BadReply } from "../wire/errors.ts";
import { countOf, type Fields, fieldsOf, objectsIn, textOf } from "../wire/fields.ts";
import { contentFiltered } from "../wire/reply-failures.ts";
import { createSpokenText, type SpokenTextOptions } from "../wire/spoken-text.ts";
import type { ReplyBuilder } from "../wire/wire-model.ts";
import { carriesThought, createCalls, createPieces, createPlaces } from "./parts.ts";
import { refusalOf } from "./refusal.ts";

export function createResponsesReply(options: SpokenTextOptions): ReplyBuilder {
  const spoken = createSpokenText(options);
  const text = createPieces(spoken.say);
  const reasoning = createPieces(spoken.think);
  const messages = createPlaces("messages");
  const thoughts = createPlaces("thoughts");
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
    for (const [index, part] of objectsIn(item["content"]).entries()) {
      text.settle(`${place}/${index}`, place, textOf(part["text"]) || textOf(part["refusal"]));
    }
  }

  function addThought(place: string, item: Fields): void {
    for (const [kind, list] of [
      ["s", objectsIn(item["summary"])],
      ["c", objectsIn(item["content"])],
    ] as const) {
      for (const [index, part] of list.entries()) {
        const name = `${place}/${kind}${index}`;
        reasoning.settle(name, name, textOf(part["text"]));
      }
    }
    // One that was cut off cannot be read by anybody, and the first to be whole is the one to give back.
    const isWhole = item["status"] !== "incomplete" && carriesThought(item);
    const block = isWhole && !kept.has(place) ? opaque(item) : undefined;
    if (block !== undefined) kept.set(place, block);
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
    addOutput(objectsIn(response["output"]));
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
    ["response.completed", ({ response }) => addResponse({ status: "completed", ...fieldsOf(response) })],
    ["response.incomplete", ({ response }) => addResponse({ ...fieldsOf(response), status: "incomplete" })],
    ["response.failed", ({ response }) => addResponse({ ...fieldsOf(response), status: "failed" })],
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
    get usage() {
      return usage;
    },
    partial: spoken.partial,
    finish() {
      if (finishReason === "content_filter") throw contentFiltered();
      const { content, toolCalls } = spoken.finish(calls.finish(options.newCallId), { cutOff });
      const blocks = thinkingBlocks();
      return {
        ok: true,
        content,
        toolCalls,
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

/**
 * As it came, for its maker alone. Its text is stored with the session, so it must be well-formed; what is
 * nested too deeply to be stored is left out.
 */
function opaque(item: Fields): JsonObject | undefined {
  const json = jsonOf(item);
  if (json === undefined) return undefined;
  return JSON.parse(json, (_key, value: unknown) =>
    typeof value === "string" ? wellFormed(value) : value,
  ) as JsonObject;
}

function usageOf(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const cost = countOf(usage["cost"]);
  return {
    input: countOf(usage["input_tokens"]) ?? 0,
    output: countOf(usage["output_tokens"]) ?? 0,
    cached: countOf(fieldsOf(usage["input_tokens_details"])["cached_tokens"]) ?? 0,
    reasoning: countOf(fieldsOf(usage["output_tokens_details"])["reasoning_tokens"]) ?? 0,
    ...(cost === undefined ? {} : { cost }),
  };
}

/** Puts a reply together from the chunks of a chat-completions stream, however a vendor shapes them. */

import type { ChatAnswer, ChatDelta, ToolCall, Usage } from "../core/model.ts";
import { isObject } from "../lib/is-object.ts";
import { wellFormed } from "../lib/text.ts";
import { BadReply, Refusal } from "./model-failure.ts";

export interface ReplyBuilder {
  /** One decoded chunk. Throws `Refusal` or `BadReply`. */
  add(chunk: unknown): void;
  /** The server said that the reply is complete. */
  readonly complete: boolean;
  /** Something of the reply has arrived. */
  readonly started: boolean;
  /** The text so far: what its deltas joined give. */
  partial(): string;
  finish(): ChatAnswer;
}

interface PartialCall {
  id: string;
  name: string;
  arguments: string;
}

type Fields = { readonly [key: string]: unknown };

const MOST_CALLS = 256;

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function endsInHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

/** Text of one kind as it arrives. A pair that is cut between two deltas is passed on whole. */
function createText(kind: ChatDelta["kind"], onDelta: (delta: ChatDelta) => void) {
  let whole = "";
  let held = "";
  function emit(text: string): void {
    whole += text;
    onDelta({ kind, text });
  }
  return {
    add(piece: string): void {
      if (piece === "") return;
      const text = held + piece;
      held = endsInHighSurrogate(text) ? text.slice(-1) : "";
      const ready = held === "" ? text : text.slice(0, -1);
      if (ready !== "") emit(wellFormed(ready));
    },
    end(): string {
      if (held !== "") emit(wellFormed(held));
      held = "";
      return whole;
    },
  };
}

export function createReplyBuilder({
  onDelta,
  newCallId,
}: {
  onDelta: (delta: ChatDelta) => void;
  /** For calls that came without an id. */
  newCallId: () => string;
}): ReplyBuilder {
  const text = createText("text", onDelta);
  const reasoning = createText("reasoning", onDelta);
  const calls = createCalls();
  let finishReason = "";
  let usage: Usage | undefined;
  let started = false;

  function addContent(content: unknown): void {
    text.add(textOf(content));
    if (!Array.isArray(content)) return;
    for (const part of content as unknown[]) {
      if (!isObject(part)) continue;
      text.add(textOf(part["text"]));
      const thinking = part["thinking"];
      for (const thought of Array.isArray(thinking) ? (thinking as unknown[]) : [thinking]) {
        reasoning.add(isObject(thought) ? textOf(thought["text"]) : textOf(thought));
      }
    }
  }

  function addDelta(delta: Fields): void {
    started = true;
    reasoning.add(textOf(delta["reasoning_content"] ?? delta["reasoning"]));
    addContent(delta["content"]);
    text.add(textOf(delta["refusal"]));
    const toolCalls = delta["tool_calls"];
    if (!Array.isArray(toolCalls)) return;
    for (const call of toolCalls as unknown[]) if (isObject(call)) calls.add(call);
  }

  return {
    add(chunk) {
      if (!isObject(chunk)) return;
      if (chunk["error"]) throw refusalOf(chunk["error"]);
      usage = usageOf(chunk["usage"]) ?? usage;
      const choices = chunk["choices"];
      const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
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
    partial: () => text.end(),
    finish() {
      if (finishReason === "content_filter") {
        throw new BadReply("stopped its reply because of its content filter", { kind: "contentFilter" });
      }
      if (finishReason === "error") throw new BadReply("failed in the middle of its reply");
      const reasoningContent = reasoning.end();
      return {
        ok: true,
        content: text.end(),
        toolCalls: calls.finish(newCallId),
        finishReason,
        ...(usage ? { usage } : {}),
        ...(reasoningContent === "" ? {} : { reasoningContent }),
      };
    },
  };
}

/** An error inside the stream carries its status, if any, as its code. */
function refusalOf(error: unknown): Refusal {
  const code = isObject(error) ? Number(error["code"] ?? error["status"]) : Number.NaN;
  const status = Number.isInteger(code) && code >= 400 && code <= 599 ? { status: code } : {};
  return new Refusal({ ...status, body: JSON.stringify({ error }) });
}

function createCalls() {
  const calls: PartialCall[] = [];
  const byIndex = new Map<number, PartialCall>();

  function open(): PartialCall {
    if (calls.length >= MOST_CALLS)
      throw new BadReply(`asked for more than ${MOST_CALLS} tool calls at once`);
    const call = { id: "", name: "", arguments: "" };
    calls.push(call);
    return call;
  }

  /**
   * Which call a delta goes on with. Servers leave out the index, or the id, or give every call the index
   * 0; a name beside a new id, or a name without anything else, begins a call.
   */
  function target(index: unknown, id: string, name: string): PartialCall {
    if (typeof index === "number") {
      const found = byIndex.get(index);
      const isAnother = found && id !== "" && name !== "" && found.id !== "" && found.id !== id;
      if (found && !isAnother) return found;
      const call = open();
      byIndex.set(index, call);
      return call;
    }
    const last = calls.at(-1);
    if (id !== "") {
      const found = calls.find((call) => call.id === id);
      if (found) return found;
      return last && last.id === "" && name === "" ? last : open();
    }
    return last && (name === "" || last.name === "") ? last : open();
  }

  return {
    add(delta: Fields): void {
      const called = isObject(delta["function"]) ? delta["function"] : {};
      const id = textOf(delta["id"]);
      const name = textOf(called["name"]);
      const call = target(delta["index"], id, name);
      if (call.id === "") call.id = id;
      // Some servers repeat the whole name with every delta.
      if (call.name !== name) call.name += name;
      const given = called["arguments"];
      call.arguments += isObject(given) ? JSON.stringify(given) : textOf(given);
    },
    finish(newCallId: () => string): ToolCall[] {
      const taken = new Set<string>();
      // Some servers send a call that is empty but for its id.
      const asked = calls.filter((call) => call.name !== "" || call.arguments !== "");
      return asked.map((call) => {
        const id = call.id === "" || taken.has(call.id) ? newCallId() : wellFormed(call.id);
        taken.add(id);
        return { id, name: wellFormed(call.name), arguments: wellFormed(call.arguments) || "{}" };
      });
    },
  };
}

function count(...candidates: unknown[]): number {
  const found = candidates.find((value) => typeof value === "number" && Number.isFinite(value) && value >= 0);
  return typeof found === "number" ? found : 0;
}

/** Vendors put the cached tokens in different places. */
function usageOf(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const prompt = isObject(usage["prompt_tokens_details"]) ? usage["prompt_tokens_details"] : {};
  const completion = isObject(usage["completion_tokens_details"]) ? usage["completion_tokens_details"] : {};
  return {
    input: count(usage["prompt_tokens"]),
    output: count(usage["completion_tokens"]),
    cached: count(prompt["cached_tokens"], usage["cached_tokens"], usage["prompt_cache_hit_tokens"]),
    reasoning: count(completion["reasoning_tokens"]),
  };
}

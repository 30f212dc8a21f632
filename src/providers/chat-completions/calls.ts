/** Puts the tool calls of a chat-completions reply together, however a vendor cuts and numbers them. */

import type { JsonObject } from "../../core/json.ts";
import type { ToolCall } from "../../core/model.ts";
import { isObject } from "../../lib/is-object.ts";
import { jsonOf } from "../../lib/lenient-json.ts";
import { parseJson } from "../../lib/parse-json.ts";
import { type Fields, textOf } from "../wire/fields.ts";
import { argumentsOf, type CollectedCall, finishCalls } from "../wire/reply-calls.ts";
import { checkRoom } from "../wire/reply-failures.ts";

export interface WireCalls {
  /** One entry of a delta's `tool_calls`. Throws `BadReply`. */
  add(delta: Fields): void;
  finish(newCallId: () => string): readonly ToolCall[];
}

/** It grows with the deltas. */
type PartialCall = { -readonly [Key in keyof CollectedCall]: CollectedCall[Key] };

/** Signatures of thoughts are a few kilobytes. */
const LONGEST_EXTRA = 256 * 1024;

function indexOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : undefined;
}

function isWholeObject(text: string): boolean {
  if (!text.trimStart().startsWith("{") || !text.trimEnd().endsWith("}")) return false;
  // Otherwise more of it is to come.
  return isObject(parseJson(text));
}

export function createWireCalls(): WireCalls {
  const calls: PartialCall[] = [];
  const byIndex = new Map<number, PartialCall>();

  function open(): PartialCall {
    checkRoom(calls.length, "tool calls");
    const call = { id: "", name: "", arguments: "" };
    calls.push(call);
    return call;
  }

  /**
   * Whether a delta that has the index or the id of `found` is about another call all the same. Some servers
   * repeat the name with every piece of the arguments, so a name alone says nothing.
   */
  function isAnother(found: PartialCall, delta: PartialCall): boolean {
    if (delta.name === "") return false;
    if (delta.id !== "" && found.id !== "" && delta.id !== found.id) return true;
    if (found.arguments === "{}" || !isWholeObject(found.arguments)) return false;
    return delta.name !== found.name || (isWholeObject(delta.arguments) && !isRepeated(found, delta));
  }

  /** Some servers send a whole call once more at the end. */
  function isRepeated(found: PartialCall, delta: PartialCall): boolean {
    return delta.name === found.name && delta.arguments === found.arguments && isWholeObject(delta.arguments);
  }

  /**
   * Which call a delta goes on with. Servers leave out the index, or the id, or give every call the index
   * 0; a name beside a new id, or a name without anything else, begins a call.
   */
  function target(index: number | undefined, delta: PartialCall): PartialCall {
    const { id, name } = delta;
    if (index !== undefined) {
      const found = byIndex.get(index);
      if (found && !isAnother(found, delta)) return found;
      const call = open();
      byIndex.set(index, call);
      return call;
    }
    const last = calls.at(-1);
    if (id !== "") {
      const found = calls.findLast((call) => call.id === id);
      if (found) return isAnother(found, delta) ? open() : found;
      return last && last.id === "" && name === "" ? last : open();
    }
    return last && (name === "" || last.name === "") ? last : open();
  }

  return {
    add(delta) {
      // Some servers leave the inner object out.
      const called = isObject(delta["function"]) ? delta["function"] : delta;
      const piece: PartialCall = {
        id: textOf(delta["id"]),
        name: textOf(called["name"]),
        arguments: argumentsOf(called["arguments"]),
      };
      const call = target(indexOf(delta["index"]), piece);
      if (call.id === "") call.id = piece.id;
      const extra = delta["extra_content"];
      // It was decoded from JSON, so it is nothing but JSON.
      if (isObject(extra)) call.extra = { ...call.extra, ...(extra as JsonObject) };
      if (isRepeated(call, piece)) return;
      if (call.name !== piece.name) call.name += piece.name;
      // An empty object is what some servers begin with before the pieces come.
      if (call.arguments === "{}" && piece.arguments !== "") call.arguments = "";
      call.arguments += piece.arguments;
    },
    finish: (newCallId) => finishCalls(calls.map(withFitExtra), newCallId),
  };
}

function withFitExtra({ extra, ...call }: PartialCall): CollectedCall {
  const isFit = extra !== undefined && (jsonOf(extra)?.length ?? Infinity) <= LONGEST_EXTRA;
  return isFit ? { ...call, extra } : call;
}

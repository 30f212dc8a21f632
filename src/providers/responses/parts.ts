/** The parts of a Responses reply: text that comes in pieces or whole, tool calls, and where each belongs. */

import type { ToolCall } from "../../core/model.ts";
import { type Fields, fieldsOf, textOf } from "../wire/fields.ts";
import { argumentsOf, type CollectedCall, finishCalls } from "../wire/reply-calls.ts";
import { checkRoom } from "../wire/reply-failures.ts";

/** Whether a reasoning item brings along what was thought, and not only its name or a summary. */
export function carriesThought({ encrypted_content: encrypted, content }: Fields): boolean {
  return textOf(encrypted) !== "" || (Array.isArray(content) && content.length > 0);
}

/** Tells the items of one kind apart, whatever of their position and id an event gives. `kind` is for people. */
export function createPlaces(kind: string) {
  const known: string[] = [];
  const isKnown = new Set<string>();

  function note(place: string): string {
    if (isKnown.has(place)) return place;
    checkRoom(known.length, kind);
    known.push(place);
    isKnown.add(place);
    return place;
  }

  return {
    /** Of an event that names its item; one that does not goes on with the last. */
    of(event: Fields): string {
      const { output_index: index, item_id: id, item } = event;
      if (typeof index === "number") return note(`#${index}`);
      const named = textOf(id) || textOf(fieldsOf(item)["id"]);
      return note(named || (known.at(-1) ?? "first"));
    },
    /** Of the item that is number `order` of its kind. */
    at: (order: number): string => known[order] ?? note(`whole ${order}`),
  };
}

/** Text in named parts. What the pieces left out comes when the part is told as a whole. */
export function createPieces(out: (piece: string) => void) {
  const seen = new Map<string, string>();
  let last: string | undefined;

  function add(part: string, group: string, piece: string): void {
    if (piece === "") return;
    if (!seen.has(part)) checkRoom(seen.size, "parts of text");
    if (last !== undefined && last !== group) out("\n\n");
    last = group;
    seen.set(part, (seen.get(part) ?? "") + piece);
    out(piece);
  }

  return {
    /** An empty line stands between the text of two groups. */
    add,
    /** A part that differs from its pieces stays as it was shown. */
    settle(part: string, group: string, whole: string): void {
      const shown = seen.get(part) ?? "";
      if (whole.startsWith(shown)) add(part, group, whole.slice(shown.length));
    },
  };
}

/** It grows with the events. */
type PartialCall = { -readonly [Key in keyof CollectedCall]: CollectedCall[Key] };

export function createCalls() {
  const places = createPlaces("tool calls");
  const calls: PartialCall[] = [];
  const byPlace = new Map<string, PartialCall>();

  /** Servers that give every call the same position give them different ids. */
  function callAt(place: string, id = ""): PartialCall {
    const found = byPlace.get(place);
    const isAnother = found && id !== "" && found.id !== "" && found.id !== id;
    if (found && !isAnother) return found;
    const known = id === "" ? undefined : calls.find((call) => call.id === id);
    if (known) return known;
    checkRoom(calls.length, "tool calls");
    const call = { id: "", name: "", arguments: "" };
    calls.push(call);
    byPlace.set(place, call);
    return call;
  }

  return {
    places,
    addArguments(place: string, piece: unknown): void {
      callAt(place).arguments += argumentsOf(piece);
    },
    setArguments(place: string, whole: unknown): void {
      const call = callAt(place);
      call.arguments = argumentsOf(whole) || call.arguments;
    },
    /** Arguments count only in an item that is done: they may come again in pieces. */
    addItem(place: string, item: Fields, isDone: boolean): void {
      const id = textOf(item["call_id"]);
      const call = callAt(place, id);
      call.id ||= id;
      call.name = textOf(item["name"]) || call.name;
      if (isDone) call.arguments = argumentsOf(item["arguments"]) || call.arguments;
    },
    finish: (newCallId: () => string): ToolCall[] => finishCalls(calls, newCallId),
  };
}

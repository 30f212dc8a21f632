/** The parts of a Responses reply: text that comes in pieces or whole, tool calls, and where each belongs. */

import type { ToolCall } from "../../core/model.ts";
import { isObject } from "../../lib/is-object.ts";
import { wellFormed } from "../../lib/text.ts";
import type { DeltaText } from "../wire/delta-text.ts";
import { BadReply } from "../wire/model-failure.ts";

type Fields = { readonly [key: string]: unknown };

const MOST_CALLS = 256;

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Whether a reasoning item brings along what was thought, and not only its name or a summary. */
export function carriesThought({ encrypted_content: encrypted, content }: Fields): boolean {
  return textOf(encrypted) !== "" || (Array.isArray(content) && content.length > 0);
}

/** Tells the items of one kind apart, whatever of their position and id an event gives. */
export function createPlaces() {
  const known: string[] = [];

  function note(place: string): string {
    if (!known.includes(place)) known.push(place);
    return place;
  }

  return {
    /** Of an event that names its item; one that does not goes on with the last. */
    of(event: Fields): string {
      const { output_index: index, item_id: id, item } = event;
      if (typeof index === "number") return note(`#${index}`);
      const named = textOf(id) || (isObject(item) ? textOf(item["id"]) : "");
      return note(named || (known.at(-1) ?? "first"));
    },
    /** Of the item that is number `order` of its kind. */
    at: (order: number): string => known[order] ?? note(`whole ${order}`),
  };
}

/** Text in named parts. What the pieces left out comes when the part is told as a whole. */
export function createPieces(out: DeltaText) {
  const seen = new Map<string, string>();
  let last: string | undefined;

  function add(part: string, group: string, piece: string): void {
    if (piece === "") return;
    if (last !== undefined && last !== group) out.add("\n\n");
    last = group;
    seen.set(part, (seen.get(part) ?? "") + piece);
    out.add(piece);
  }

  return {
    /** An empty line stands between the text of two groups. */
    add,
    /** A part that differs from its pieces stays as it was shown. */
    settle(part: string, group: string, whole: string): void {
      const shown = seen.get(part) ?? "";
      if (whole.startsWith(shown)) add(part, group, whole.slice(shown.length));
    },
    end: () => out.end(),
  };
}

interface PartialCall {
  id: string;
  name: string;
  arguments: string;
}

function argumentsOf(value: unknown): string {
  return isObject(value) ? JSON.stringify(value) : textOf(value);
}

export function createCalls() {
  const places = createPlaces();
  const calls: PartialCall[] = [];
  const byPlace = new Map<string, PartialCall>();

  /** Servers that give every call the same position give them different ids. */
  function callAt(place: string, id = ""): PartialCall {
    const found = byPlace.get(place);
    const isAnother = found && id !== "" && found.id !== "" && found.id !== id;
    if (found && !isAnother) return found;
    const known = id === "" ? undefined : calls.find((call) => call.id === id);
    if (known) return known;
    if (calls.length >= MOST_CALLS) {
      throw new BadReply(`asked for more than ${MOST_CALLS} tool calls at once`);
    }
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
    finish(newCallId: () => string): ToolCall[] {
      const taken = new Set<string>();
      const asked = calls.filter((call) => call.name !== "" || call.arguments !== "");
      return asked.map((call) => {
        const id = call.id === "" || taken.has(call.id) ? newCallId() : wellFormed(call.id);
        taken.add(id);
        return { id, name: wellFormed(call.name), arguments: wellFormed(call.arguments) || "{}" };
      });
    },
  };
}

/** Ids of calls as Mistral takes them: 9 letters and digits, the same for the same id of ours in every request. */

import type { ToolCall } from "../../core/model.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SHORT = /^[a-zA-Z0-9]{9}$/;

export interface ShortCallIds {
  /** Of one of the calls it was made for. */
  of(id: string): string;
  /** Whether any id is moved; mostly none is. */
  readonly anyMoved: boolean;
  /** Whether this id got another short one than its own, because an earlier one has that. */
  isMoved(id: string): boolean;
}

/** For the calls of one request, in their order: whatever comes later changes nothing about those before it. */
export function createShortCallIds(calls: Iterable<ToolCall>): ShortCallIds {
  const owners = new Map<string, string>();
  const moved = new Map<string, string>();
  for (const call of calls) {
    let short = ownShortId(call);
    for (let attempt = 1; (owners.get(short) ?? call.id) !== call.id; attempt++) {
      short = shortCallId(`${call.id} ${attempt}`);
      moved.set(call.id, short);
    }
    owners.set(short, call.id);
  }
  return {
    of: (id) => moved.get(id) ?? shortCallId(id),
    anyMoved: moved.size > 0,
    isMoved: (id) => moved.has(id),
  };
}

// The calls of a conversation are gone through with every request.
const ownShortIds = new WeakMap<ToolCall, string>();

function ownShortId(call: ToolCall): string {
  const known = ownShortIds.get(call);
  if (known !== undefined) return known;
  const short = shortCallId(call.id);
  ownShortIds.set(call, short);
  return short;
}

/** An id that has the form already stays as it is: it is Mistral's own. */
function shortCallId(id: string): string {
  if (SHORT.test(id)) return id;
  return digits(hash(id, 0x811c9dc5), 5) + digits(hash(id, 0x2b992ddf), 4);
}

/** FNV-1a, with its last bits spread over all. 31 bits, so that it stays a small integer. */
function hash(text: string, seed: number): number {
  let state = seed;
  for (let index = 0; index < text.length; index++) {
    state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
  }
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  return (state ^ (state >>> 13)) >>> 1;
}

function digits(value: number, count: number): string {
  let text = "";
  for (let rest = value; text.length < count; rest = Math.trunc(rest / DIGITS.length)) {
    text += DIGITS[rest % DIGITS.length];
  }
  return text;
}

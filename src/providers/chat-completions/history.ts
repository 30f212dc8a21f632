/** The messages of a request as bytes. What was encoded once is not encoded again. */

import { Buffer } from "node:buffer";
import type { JsonObject } from "../../core/json.ts";
import type { ChatMessage, ToolCall } from "../../core/model.ts";
import { imagesBehindResults, type WireMessage } from "../wire/result-images.ts";
import {
  areOne,
  type MessageForm,
  markWireMessage,
  mergeWireMessages,
  saysSomething,
  toWireMessage,
} from "./message.ts";
import type { Quirks } from "./quirks.ts";
import { createShortCallIds, type ShortCallIds } from "./short-call-ids.ts";

interface Encoded {
  /** Messages that go over the wire as one; mostly it is one. */
  readonly run: readonly WireMessage[];
  readonly bytes: Uint8Array;
}

/** By the last message of a run. */
type Cache = WeakMap<WireMessage, Encoded>;

/** One for each form that a message can have, whichever servers want it. */
const caches: Cache[] = [];

const IN_PARTS = 1 << 4;
const MARKED = 1 << 5;

/** The quirks that show in a single message. */
function formOf({ nullContent, replayReasoning, thoughtSignatures, shortCallIds }: Quirks): number {
  return (
    Number(nullContent) |
    (Number(replayReasoning) << 1) |
    (Number(thoughtSignatures) << 2) |
    (Number(shortCallIds) << 3)
  );
}

function cacheFor(form: number): Cache {
  const cache = caches[form] ?? new WeakMap<WireMessage, Encoded>();
  caches[form] = cache;
  return cache;
}

interface EncodeOptions {
  readonly quirks: Quirks;
  /** The system prompt is marked, and the last two messages of the user or a tool. */
  readonly marking: boolean;
}

/**
 * Each message as JSON, with a comma before it. A conversation is sent again with every turn, and all of it
 * but the end is the same: each message is put into bytes once.
 */
export function encodeMessages(
  messages: readonly ChatMessage[],
  { quirks, marking }: EncodeOptions,
): Uint8Array[] {
  const spoken = messages.filter(saysSomething);
  // A request asks for an answer, so it does not end with one.
  while (isAnswer(spoken.at(-1))) spoken.pop();
  const said = imagesBehindResults(spoken);
  const ids = quirks.shortCallIds ? createShortCallIds(callsOf(spoken)) : undefined;
  const movedIds = ids?.anyMoved ? ids : undefined;
  const form: MessageForm = { quirks, inParts: marking, callId: ids ? ids.of : (id) => id };
  const unmarked = cacheFor(formOf(quirks) | (marking ? IN_PARTS : 0));
  const marked = marking ? cacheFor(formOf(quirks) | MARKED) : unmarked;
  const marks = marking ? endsToMark(said) : NOTHING;

  const encoded: Uint8Array[] = [];
  let start = 0;
  for (let index = 0; index < said.length; index++) {
    const first = said[start] as WireMessage;
    const last = said[index] as WireMessage;
    if (areOne(last, said[index + 1])) continue;
    if (quirks.noUserAfterTool && said[start - 1]?.role === "tool") {
      if (first.role === "resultImages") encoded.push(IMAGES_FOLLOW);
      else if (first.role === "user") encoded.push(CUT_OFF);
    }
    const isMarked = marking && marks.has(last);
    const cache = isMarked ? marked : unmarked;
    const known = cache.get(last);
    // A moved id depends on the rest of the request.
    const depends = movedIds !== undefined && hasMovedId(first, movedIds);
    if (known !== undefined && !depends && isRunAt(known.run, said, start, index)) {
      encoded.push(known.bytes);
    } else {
      const run = said.slice(start, index + 1);
      const bytes = encodeRun(run, form, isMarked);
      if (!depends) cache.set(last, { run, bytes });
      encoded.push(bytes);
    }
    start = index + 1;
  }
  return encoded;
}

const NOTHING: ReadonlySet<WireMessage> = new Set();

function isAnswer(message: ChatMessage | undefined): boolean {
  return message?.role === "assistant" && !message.toolCalls?.length;
}

function callsOf(messages: readonly ChatMessage[]): readonly ToolCall[] {
  const calls: ToolCall[] = [];
  for (const message of messages) {
    if (message.role === "assistant" && message.toolCalls !== undefined) calls.push(...message.toolCalls);
  }
  return calls;
}

/** Of the first message of a run: those behind it have no ids. */
function hasMovedId(message: WireMessage, ids: ShortCallIds): boolean {
  if (message.role === "tool") return ids.isMoved(message.toolCallId);
  if (message.role === "resultImages") return message.results.some((result) => hasMovedId(result, ids));
  return message.role === "assistant" && (message.toolCalls ?? []).some(({ id }) => ids.isMoved(id));
}

/** By the last message of their runs. With the last tool that makes four, which is the most that Anthropic takes. */
function endsToMark(messages: readonly WireMessage[]): ReadonlySet<WireMessage> {
  const marks: WireMessage[] = [];
  for (let index = messages.length - 1; index >= 0 && marks.length < 2; index--) {
    const message = messages[index];
    if (message === undefined || message.role === "system" || message.role === "assistant") continue;
    if (!areOne(message, messages[index + 1])) marks.push(message);
  }
  const system = messages.find(({ role }) => role === "system");
  return new Set(system ? [...marks, system] : marks);
}

function isRunAt(
  run: readonly WireMessage[],
  messages: readonly WireMessage[],
  start: number,
  end: number,
): boolean {
  if (run.length !== end - start + 1) return false;
  // The last one is what it was found by.
  return run.length === 1 || run.every((message, index) => message === messages[start + index]);
}

function encodeRun(run: readonly WireMessage[], form: MessageForm, isMarked: boolean): Uint8Array {
  const whole = run.map((message) => toWireMessage(message, form)).reduce(mergeWireMessages);
  return toBytes(isMarked ? markWireMessage(whole) : whole);
}

function toBytes(message: JsonObject): Uint8Array {
  return Buffer.from(`,${JSON.stringify(message)}`);
}

/** Stands between results and the user where a turn was cut off, for servers that want a reply there. */
const CUT_OFF = toBytes({ role: "assistant", content: "(interrupted)" });
/** The same between results and their images. */
const IMAGES_FOLLOW = toBytes({ role: "assistant", content: "(the images follow)" });

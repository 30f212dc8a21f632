/** The messages of a request as bytes. What was encoded once is not encoded again. */

import { Buffer } from "node:buffer";
import type { JsonObject } from "../../core/json.ts";
import type { ChatMessage, ToolCall } from "../../core/model.ts";
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
  readonly run: readonly ChatMessage[];
  readonly bytes: Uint8Array;
}

/** By the last message of a run. */
type Cache = WeakMap<ChatMessage, Encoded>;

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
  const cache = caches[form] ?? new WeakMap<ChatMessage, Encoded>();
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
  const said = messages.filter(saysSomething);
  // A request asks for an answer, so it does not end with one.
  while (isAnswer(said.at(-1))) said.pop();
  const ids = quirks.shortCallIds ? createShortCallIds(callsOf(said)) : undefined;
  const movedIds = ids?.anyMoved ? ids : undefined;
  const form: MessageForm = { quirks, inParts: marking, callId: ids ? ids.of : (id) => id };
  const unmarked = cacheFor(formOf(quirks) | (marking ? IN_PARTS : 0));
  const marked = marking ? cacheFor(formOf(quirks) | MARKED) : unmarked;
  const marks = marking ? endsToMark(said) : NOTHING;

  const encoded: Uint8Array[] = [];
  let start = 0;
  for (let index = 0; index < said.length; index++) {
    const last = said[index] as ChatMessage;
    if (areOne(last, said[index + 1])) continue;
    if (quirks.noUserAfterTool && last.role === "user" && said[start - 1]?.role === "tool") {
      encoded.push(CUT_OFF);
    }
    const isMarked = marking && marks.has(last);
    const cache = isMarked ? marked : unmarked;
    const known = cache.get(last);
    // A moved id depends on the rest of the request.
    const depends = movedIds !== undefined && hasMovedId(last, movedIds);
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

const NOTHING: ReadonlySet<ChatMessage> = new Set();

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

function hasMovedId(message: ChatMessage, ids: ShortCallIds): boolean {
  if (message.role === "tool") return ids.isMoved(message.toolCallId);
  return message.role === "assistant" && (message.toolCalls ?? []).some(({ id }) => ids.isMoved(id));
}

/** By the last message of their runs. With the last tool that makes four, which is the most that Anthropic takes. */
function endsToMark(messages: readonly ChatMessage[]): ReadonlySet<ChatMessage> {
  const marks: ChatMessage[] = [];
  for (let index = messages.length - 1; index >= 0 && marks.length < 2; index--) {
    const message = messages[index];
    const asks = message?.role === "user" || message?.role === "tool";
    if (asks && !areOne(message, messages[index + 1])) marks.push(message);
  }
  const system = messages.find(({ role }) => role === "system");
  return new Set(system ? [...marks, system] : marks);
}

function isRunAt(
  run: readonly ChatMessage[],
  messages: readonly ChatMessage[],
  start: number,
  end: number,
): boolean {
  if (run.length !== end - start + 1) return false;
  // The last one is what it was found by.
  return run.length === 1 || run.every((message, index) => message === messages[start + index]);
}

function encodeRun(run: readonly ChatMessage[], form: MessageForm, isMarked: boolean): Uint8Array {
  const whole = run.map((message) => toWireMessage(message, form)).reduce(mergeWireMessages);
  return toBytes(isMarked ? markWireMessage(whole) : whole);
}

function toBytes(message: JsonObject): Uint8Array {
  return Buffer.from(`,${JSON.stringify(message)}`);
}

/** Stands between results and the user where a turn was cut off, for servers that want a reply there. */
const CUT_OFF = toBytes({ role: "assistant", content: "(interrupted)" });

/** A scripted reply of the fake chat-completions server, and the bytes it is sent as. */

import type { JsonObject } from "../../src/core/json.ts";

/** A list is text cut into deltas as it stands there; a string is one delta. */
type Pieces = string | readonly string[];

export interface ScriptedCall {
  /** A fresh one unless given; `null` leaves it out of every delta. */
  readonly id?: string | null;
  readonly name?: string;
  /** An object is written as JSON. */
  readonly arguments?: Pieces | JsonObject;
  /** Its position unless given; `null` leaves it out of every delta. */
  readonly index?: number | null;
}

/**
 * What the server does with one request. Everything is optional and most of it combines:
 * `{ text: "hi" }` is a whole reply, `{ text: "hi", cutAt: 40 }` the same cut off.
 */
export interface Reply {
  readonly text?: Pieces;
  readonly reasoning?: Pieces;
  readonly toolCalls?: readonly ScriptedCall[];
  /** Counted roughly unless given; `null` sends none. Streams carry it only when the request asks. */
  readonly usage?: JsonObject | null;
  /** `stop` or `tool_calls` unless given; `null` is sent as null, `false` leaves the closing chunk out. */
  readonly finishReason?: string | null | false;

  /** The exact chunks, in place of those made from the fields above. */
  readonly events?: readonly unknown[];
  /** The exact body, in place of everything else. */
  readonly raw?: string | Uint8Array;
  /** Any status but 200 sends `body`: an object as JSON, a string as it is. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The JSON form although the request asks for a stream. */
  readonly json?: boolean;

  /** Lines end with CRLF. */
  readonly crlf?: boolean;
  /** `false` leaves out the closing `[DONE]`. */
  readonly done?: boolean;
  /** Write boundaries as byte offsets of the body, or every byte alone. Unless given, one write an event. */
  readonly rechunk?: readonly number[] | "bytes";
  /** Closes the socket after this many bytes of the body, once `cutWhen` resolved. */
  readonly cutAt?: number;
  readonly cutWhen?: Promise<unknown>;
  /** Nothing is sent, headers included, before this resolves. */
  readonly hold?: Promise<unknown>;
  /** The body goes on after this many writes only when `until` resolves. */
  readonly holdAfter?: { readonly writes: number; readonly until: Promise<unknown> };
  /** The socket stays open and silent. */
  readonly never?: boolean;
  /** Real time, for servers in a process of their own; tests in the same process use `hold`. */
  readonly delayMs?: number;
  readonly betweenMs?: number;
}

export interface ReplyContext {
  readonly model: string;
  readonly includeUsage: boolean;
  readonly promptTokens: number;
  /** Makes ids for calls whose script gives none. */
  readonly nextCallId: () => string;
}

function piecesOf(pieces: Pieces | undefined): readonly string[] {
  if (pieces === undefined) return [];
  return typeof pieces === "string" ? [pieces] : pieces;
}

function argumentPieces(call: ScriptedCall): readonly string[] {
  const given = call.arguments ?? "{}";
  if (typeof given === "string") return [given];
  // Array.isArray() does not narrow a read-only list.
  return Array.isArray(given) ? (given as readonly string[]) : [JSON.stringify(given)];
}

function callDeltas(call: ScriptedCall, position: number, id: string | null): JsonObject[] {
  const index = call.index === undefined ? position : call.index;
  const where = index === null ? {} : { index };
  const start = { ...where, ...(id === null ? {} : { id }), type: "function" };
  const name = call.name === undefined ? {} : { name: call.name };
  const pieces = argumentPieces(call);
  if (pieces.length === 1) return [{ ...start, function: { ...name, arguments: pieces[0] ?? "" } }];
  return [
    { ...start, function: { ...name, arguments: "" } },
    ...pieces.map((piece) => ({ ...where, function: { arguments: piece } })),
  ];
}

function usageOf(reply: Reply, context: ReplyContext): JsonObject | null {
  if (reply.usage !== undefined) return reply.usage;
  const completion = Math.ceil(piecesOf(reply.text).join("").length / 4);
  return {
    prompt_tokens: context.promptTokens,
    completion_tokens: completion,
    total_tokens: context.promptTokens + completion,
  };
}

function finishOf(reply: Reply): string | null | false {
  if (reply.finishReason !== undefined) return reply.finishReason;
  return reply.toolCalls?.length ? "tool_calls" : "stop";
}

function callId(call: ScriptedCall, context: ReplyContext): string | null {
  return call.id === undefined ? context.nextCallId() : call.id;
}

/** The chunks of a stream, in order, without the closing `[DONE]`. */
function eventsOf(reply: Reply, context: ReplyContext): readonly unknown[] {
  if (reply.events) return reply.events;
  const head = { id: "chatcmpl-fake", object: "chat.completion.chunk", created: 1, model: context.model };
  const chunk = (delta: JsonObject, finish: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const events: unknown[] = [chunk({ role: "assistant", content: "" })];
  for (const piece of piecesOf(reply.reasoning)) events.push(chunk({ reasoning_content: piece }));
  for (const piece of piecesOf(reply.text)) events.push(chunk({ content: piece }));
  for (const [position, call] of (reply.toolCalls ?? []).entries()) {
    for (const delta of callDeltas(call, position, callId(call, context))) {
      events.push(chunk({ tool_calls: [delta] }));
    }
  }
  const finish = finishOf(reply);
  if (finish !== false) events.push(chunk({}, finish));
  const usage = usageOf(reply, context);
  if (usage && context.includeUsage) events.push({ ...head, choices: [], usage });
  return events;
}

/** The writes of a streamed body, before any re-chunking: one an event. */
export function streamWrites(reply: Reply, context: ReplyContext): readonly Uint8Array[] {
  const encoder = new TextEncoder();
  const end = reply.crlf ? "\r\n" : "\n";
  const data = eventsOf(reply, context).map((event) => JSON.stringify(event));
  if (reply.done !== false) data.push("[DONE]");
  return data.map((text) => encoder.encode(`data: ${text}${end}${end}`));
}

/** The body of a request that did not ask for a stream. */
export function completionOf(reply: Reply, context: ReplyContext): JsonObject {
  const text = piecesOf(reply.text).join("");
  const reasoning = piecesOf(reply.reasoning).join("");
  const toolCalls = (reply.toolCalls ?? []).map((call) => ({
    id: callId(call, context),
    type: "function",
    function: { name: call.name ?? null, arguments: argumentPieces(call).join("") },
  }));
  const message = {
    role: "assistant",
    content: text,
    ...(reasoning ? { reasoning_content: reasoning } : {}),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
  };
  const usage = usageOf(reply, context);
  return {
    id: "chatcmpl-fake",
    object: "chat.completion",
    created: 1,
    model: context.model,
    choices: [{ index: 0, message, finish_reason: finishOf(reply) || null }],
    ...(usage ? { usage } : {}),
  };
}

/** `bytes` cut at the given offsets; offsets outside it and empty pieces are left out. */
export function cutAtOffsets(bytes: Uint8Array, offsets: readonly number[] | "bytes"): Uint8Array[] {
  const cuts = offsets === "bytes" ? Array.from(bytes, (_, index) => index) : offsets;
  const inside = [...new Set(cuts)].filter((cut) => cut > 0 && cut < bytes.length).sort((a, b) => a - b);
  return [0, ...inside].map((start, index) => bytes.subarray(start, inside[index] ?? bytes.length));
}

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

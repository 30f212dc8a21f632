/** A scripted reply of the fake Messages API, and the events it is sent as. */

import type { JsonObject } from "../../src/core/json.ts";

/** A list is text cut into deltas as it stands there; a string is one delta. */
type Pieces = string | readonly string[];

export type ScriptedBlock =
  | { readonly text: Pieces }
  | { readonly thinking: Pieces; readonly signature: string }
  | { readonly redacted: string }
  /** An object is written as JSON; a list are the deltas. */
  | { readonly tool: string; readonly id?: string; readonly input?: Pieces | JsonObject };

export interface AnthropicReply {
  /** Short for one block of text. */
  readonly text?: Pieces;
  readonly blocks?: readonly ScriptedBlock[];
  readonly stop?: string;
  readonly usage?: JsonObject;

  /** The exact events, in place of those made from the fields above. */
  readonly events?: readonly unknown[];
  /** The whole message, although the request asks for a stream. */
  readonly json?: boolean;
  /** Any status but 200 sends an error of this type. */
  readonly status?: number;
  readonly error?: { readonly type: string; readonly message: string };
  readonly headers?: Readonly<Record<string, string>>;
  /** The body is cut into pieces of this many bytes. */
  readonly pieces?: number;
  /** The socket is closed after this many bytes of the body. */
  readonly cutAt?: number;
  /** The end of the body waits for this. */
  readonly endWhen?: Promise<unknown>;
}

export function piecesOf(pieces: Pieces | JsonObject): readonly string[] {
  if (typeof pieces === "string") return [pieces];
  // Array.isArray() does not narrow a read-only list.
  return Array.isArray(pieces) ? (pieces as readonly string[]) : [JSON.stringify(pieces)];
}

export function blocksOf({ text, blocks = [] }: AnthropicReply): readonly ScriptedBlock[] {
  return text === undefined ? blocks : [{ text }, ...blocks];
}

function startOf(block: ScriptedBlock, index: number): JsonObject {
  if ("text" in block) return { type: "text", text: "" };
  if ("thinking" in block) return { type: "thinking", thinking: "", signature: "" };
  if ("redacted" in block) return { type: "redacted_thinking", data: block.redacted };
  return { type: "tool_use", id: block.id ?? `toolu_${index}`, name: block.tool, input: {} };
}

function deltasOf(block: ScriptedBlock): readonly JsonObject[] {
  if ("text" in block) return piecesOf(block.text).map((text) => ({ type: "text_delta", text }));
  if ("thinking" in block) {
    const thoughts = piecesOf(block.thinking).map((thinking) => ({ type: "thinking_delta", thinking }));
    return [...thoughts, { type: "signature_delta", signature: block.signature }];
  }
  if ("redacted" in block || block.input === undefined) return [];
  return piecesOf(block.input).map((partial) => ({ type: "input_json_delta", partial_json: partial }));
}

function stopOf(reply: AnthropicReply): string {
  return reply.stop ?? (blocksOf(reply).some((block) => "tool" in block) ? "tool_use" : "end_turn");
}

const USAGE = { input_tokens: 10, cache_creation_input_tokens: null, cache_read_input_tokens: null };

export function eventsOf(reply: AnthropicReply, model: string): readonly unknown[] {
  if (reply.events !== undefined) return reply.events;
  const { output_tokens: output = 5, ...input } = reply.usage ?? { ...USAGE, output_tokens: 5 };
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null };
  const events: unknown[] = [
    { type: "message_start", message: { ...message, usage: { ...input, output_tokens: 1 } } },
    { type: "ping" },
  ];
  for (const [index, block] of blocksOf(reply).entries()) {
    events.push({ type: "content_block_start", index, content_block: startOf(block, index) });
    for (const delta of deltasOf(block)) events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index });
  }
  const delta = { stop_reason: stopOf(reply), stop_sequence: null };
  events.push({ type: "message_delta", delta, usage: { output_tokens: output } }, { type: "message_stop" });
  return events;
}

/** The message that a request without a stream is answered with. */
export function messageOf(reply: AnthropicReply, model: string): JsonObject {
  const content = blocksOf(reply).map((block, index): JsonObject => {
    if ("text" in block) return { type: "text", text: piecesOf(block.text).join("") };
    if ("thinking" in block) {
      return { type: "thinking", thinking: piecesOf(block.thinking).join(""), signature: block.signature };
    }
    const start = startOf(block, index);
    return "tool" in block ? { ...start, input: JSON.parse(piecesOf(block.input ?? "{}").join("")) } : start;
  });
  const usage = reply.usage ?? { ...USAGE, output_tokens: 5 };
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: stopOf(reply),
    usage,
  };
}

export function streamOf(events: readonly unknown[]): string {
  const named = events as readonly { readonly type?: string }[];
  return named.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

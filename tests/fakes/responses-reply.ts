/** A scripted reply of the fake Responses server, and the events it is sent as. */

import type { JsonObject } from "../../src/core/json.ts";

/** A list is text cut into deltas as it stands there; a string is one delta. */
type Pieces = string | readonly string[];

/** One item of a reply, as a script says it. */
type ScriptedItem =
  | {
      readonly text: Pieces;
      readonly phase?: string;
      readonly isRefusal?: boolean;
    }
  | {
      readonly summary: Pieces;
      /** `null` sends none. */
      readonly encrypted?: string | null;
      readonly id?: string;
      /** The thoughts themselves, as servers of open models give them. */
      readonly thoughts?: Pieces;
    }
  | {
      readonly name: string;
      readonly arguments?: Pieces;
      /** A fresh one unless given; `null` leaves it out. */
      readonly callId?: string | null;
    };

/** What the server does with one request. */
export interface ResponsesReply {
  readonly items?: readonly ScriptedItem[];
  readonly usage?: JsonObject;
  /** Ends the reply as incomplete, for this reason. */
  readonly incomplete?: string;

  /** The exact events, in place of those made from the fields above. */
  readonly events?: readonly unknown[];
  /** Which of the made events are sent. */
  readonly keep?: (type: string) => boolean;
  /** The exact body, in place of everything else. */
  readonly raw?: string | Uint8Array;
  /** Any status but 200 sends `body`: an object as JSON, a string as it is. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The whole response as JSON although the request asks for a stream. */
  readonly json?: boolean;
  /** The connection stays open behind the last event until this resolves. */
  readonly openUntil?: Promise<unknown>;
}

export interface ResponsesContext {
  readonly model: string;
  /** Makes ids for calls whose script gives none. */
  readonly nextCallId: () => string;
}

function piecesOf(pieces: Pieces | undefined): readonly string[] {
  if (pieces === undefined) return [];
  return typeof pieces === "string" ? [pieces] : pieces;
}

interface Rendered {
  /** As it is when it is done. */
  readonly item: JsonObject;
  readonly events: readonly JsonObject[];
}

function renderItem(scripted: ScriptedItem, index: number, context: ResponsesContext): Rendered {
  if ("text" in scripted) return renderMessage(scripted, index);
  if ("summary" in scripted) return renderReasoning(scripted, index);
  return renderCall(scripted, index, context);
}

function renderMessage(
  { text, phase, isRefusal = false }: Extract<ScriptedItem, { text: Pieces }>,
  index: number,
): Rendered {
  const at = { item_id: `msg_${index}`, output_index: index, content_index: 0 };
  const whole = piecesOf(text).join("");
  const part = isRefusal
    ? { type: "refusal", refusal: whole }
    : { type: "output_text", text: whole, annotations: [], logprobs: [] };
  const name = isRefusal ? "refusal" : "output_text";
  const head = { id: `msg_${index}`, type: "message", role: "assistant" };
  const item = { ...head, status: "completed", content: [part], ...(phase === undefined ? {} : { phase }) };
  return {
    item,
    events: [
      {
        type: "response.output_item.added",
        output_index: index,
        item: { ...item, status: "in_progress", content: [] },
      },
      { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
      ...piecesOf(text).map((delta) => ({ type: `response.${name}.delta`, ...at, delta })),
      { type: `response.${name}.done`, ...at, ...(isRefusal ? { refusal: whole } : { text: whole }) },
      { type: "response.content_part.done", ...at, part },
      { type: "response.output_item.done", output_index: index, item },
    ],
  };
}

function renderReasoning(
  { summary, encrypted = "enc_thought", id: given, thoughts }: Extract<ScriptedItem, { summary: Pieces }>,
  index: number,
): Rendered {
  const id = given ?? `rs_${index}`;
  const head = { id, type: "reasoning" };
  const parts = piecesOf(summary);
  const content =
    piecesOf(thoughts).length === 0 ? [] : [{ type: "reasoning_text", text: piecesOf(thoughts).join("") }];
  const item = {
    ...head,
    summary: parts.map((text) => ({ type: "summary_text", text })),
    ...(content.length === 0 ? {} : { content }),
    ...(encrypted === null ? {} : { encrypted_content: encrypted }),
  };
  const at = { item_id: id, output_index: index };
  return {
    item,
    events: [
      {
        type: "response.output_item.added",
        output_index: index,
        item: { ...head, summary: [], ...(encrypted === null ? {} : { encrypted_content: "enc_half" }) },
      },
      ...parts.flatMap((text, number) => {
        const place = { ...at, summary_index: number };
        const middle = Math.ceil(text.length / 2);
        const part = { type: "summary_text", text };
        return [
          { type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } },
          { type: "response.reasoning_summary_text.delta", ...place, delta: text.slice(0, middle) },
          { type: "response.reasoning_summary_text.delta", ...place, delta: text.slice(middle) },
          { type: "response.reasoning_summary_text.done", ...place, text },
          { type: "response.reasoning_summary_part.done", ...place, part },
        ];
      }),
      ...piecesOf(thoughts).map((delta) => ({
        type: "response.reasoning_text.delta",
        ...at,
        content_index: 0,
        delta,
      })),
      { type: "response.output_item.done", output_index: index, item },
    ],
  };
}

function renderCall(
  { name, arguments: given = "{}", callId }: Extract<ScriptedItem, { name: string }>,
  index: number,
  { nextCallId }: ResponsesContext,
): Rendered {
  const id = callId === undefined ? nextCallId() : callId;
  const whole = piecesOf(given).join("");
  const item = {
    id: `fc_${index}`,
    type: "function_call",
    status: "completed",
    arguments: whole,
    ...(id === null ? {} : { call_id: id }),
    name,
  };
  const at = { item_id: `fc_${index}`, output_index: index };
  return {
    item,
    events: [
      {
        type: "response.output_item.added",
        output_index: index,
        item: { ...item, status: "in_progress", arguments: "" },
      },
      ...piecesOf(given).map((delta) => ({ type: "response.function_call_arguments.delta", ...at, delta })),
      { type: "response.function_call_arguments.done", ...at, arguments: whole },
      { type: "response.output_item.done", output_index: index, item },
    ],
  };
}

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 4,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 14,
};

function renderResponse(reply: ResponsesReply, rendered: readonly Rendered[], model: string): JsonObject {
  return {
    id: "resp_fake",
    object: "response",
    created_at: 1,
    model,
    error: null,
    status: reply.incomplete === undefined ? "completed" : "incomplete",
    incomplete_details: reply.incomplete === undefined ? null : { reason: reply.incomplete },
    output: rendered.map(({ item }) => item),
    usage: reply.usage ?? USAGE,
  };
}

/** The body of a request that did not ask for a stream. */
export function responseOf(reply: ResponsesReply, context: ResponsesContext): JsonObject {
  const rendered = (reply.items ?? []).map((item, index) => renderItem(item, index, context));
  return renderResponse(reply, rendered, context.model);
}

function eventsOf(reply: ResponsesReply, context: ResponsesContext): readonly unknown[] {
  if (reply.events) return reply.events;
  const rendered = (reply.items ?? []).map((item, index) => renderItem(item, index, context));
  const response = renderResponse(reply, rendered, context.model);
  const begun = { ...response, status: "in_progress", output: [], usage: null, incomplete_details: null };
  const events: JsonObject[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...rendered.flatMap(({ events }) => events),
    { type: `response.${response["status"]}`, response },
  ];
  const kept = events.filter(({ type }) => reply.keep?.(String(type)) ?? true);
  return kept.map((event, number) => ({ ...event, sequence_number: number }));
}

/** The writes of a streamed body: one an event. There is no closing line: the connection ends. */
export function streamWrites(reply: ResponsesReply, context: ResponsesContext): readonly Uint8Array[] {
  const encoder = new TextEncoder();
  return eventsOf(reply, context).map((event) => {
    const type = (event as { type?: string } | null)?.type;
    const name = type === undefined ? "" : `event: ${type}\n`;
    return encoder.encode(`${name}data: ${JSON.stringify(event)}\n\n`);
  });
}

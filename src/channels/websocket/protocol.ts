/** What clients and we say to each other: one JSON object a frame. */

import * as v from "valibot";
import type { Button, FinalMessage, TransientMessage } from "../../core/messages.ts";
import { parseJson } from "../../lib/parse-json.ts";

/** A chat that names none. */
export const USUAL_CHAT = "main";

const NAME = /^[A-Za-z0-9._-]{1,128}$/;
const NAME_RULE = "must be 1 to 128 letters, digits, ., _ or -";

const name = v.pipe(v.string(NAME_RULE), v.regex(NAME, NAME_RULE));

const hello = v.object({
  type: v.literal("hello"),
  chat: v.optional(name, USUAL_CHAT),
  after: v.exactOptional(
    v.pipe(
      v.number("must be a number"),
      v.safeInteger("must be a whole number"),
      v.minValue(0, "must not be negative"),
    ),
  ),
});

const message = v.object({
  type: v.literal("message"),
  id: name,
  content: v.pipe(
    v.string("must be a string"),
    v.check((text) => text.trim() !== "", "must not be empty"),
  ),
});

const stop = v.object({ type: v.literal("stop"), id: v.exactOptional(name) });

const ping = v.object({ type: v.literal("ping") });

const frame = v.variant("type", [hello, message, stop, ping], "must be hello, message, stop or ping");

export type ClientFrame = v.InferOutput<typeof frame>;

export function isChatId(text: string): boolean {
  return NAME.test(text);
}

export type ParsedFrame =
  | { readonly ok: true; readonly frame: ClientFrame }
  /** `id` is the message's own, where it has one that could be read. */
  | { readonly ok: false; readonly problem: string; readonly id: string | undefined };

export function parseFrame(text: string): ParsedFrame {
  const json = parseJson(text);
  const { success, output, issues } = v.safeParse(frame, json);
  if (success) return { ok: true, frame: output };
  const key = v.getDotPath(issues[0]);
  const id = v.safeParse(v.object({ id: name }), json);
  return {
    ok: false,
    problem: key === null ? "A frame must be a JSON object" : `${key} ${issues[0].message}`,
    id: id.success ? id.output.id : undefined,
  };
}

/** One that has a place in the chat, and is sent again to those who come back. */
export type ChatEvent =
  | {
      readonly type: TransientMessage["kind"];
      readonly seq: number;
      readonly turn: string;
      readonly content: string;
    }
  | { readonly type: "streamEnd"; readonly seq: number; readonly turn: string; readonly resuming: boolean }
  | FinalEvent;

export interface FinalEvent {
  readonly type: "final";
  readonly seq: number;
  /** The same whenever it is sent. */
  readonly id: string;
  readonly turn: string;
  /** When it was sent first: ISO 8601, UTC. */
  readonly at: string;
  readonly outcome: FinalMessage["outcome"];
  readonly content: string;
  /** The ids of the messages that it answers, as their clients gave them. */
  readonly answers: readonly string[];
  readonly media?: readonly { readonly name: string; readonly mime: string; readonly path: string }[];
  readonly buttons?: readonly (readonly Button[])[];
}

/** Whatever else we say. */
export type Notice =
  | { readonly type: "ready"; readonly chat: string; readonly seq: number }
  /** Something between what the client knows and number `oldest` is not kept any more. */
  | { readonly type: "gap"; readonly oldest: number }
  | { readonly type: "ack"; readonly id: string; readonly duplicate?: true }
  | { readonly type: "error"; readonly id?: string; readonly message: string }
  | { readonly type: "typing" }
  | { readonly type: "pong" };

/** What travels on the bus: messages from sources to the agent, and from the agent to channels. */

import type { JsonObject } from "./json.ts";

/**
 * Stable for one event of one platform (`telegram:update:100`, `cron:<job>:<slot ms>`), so that a
 * second delivery is recognised. It is also the id of the turn the message starts.
 */
export type InboundId = string & { readonly __kind: "inbound" };
export type OutboundId = string & { readonly __kind: "outbound" };

/** The channel of what is told to nobody: it is put on record, and never handed to a channel. */
export const NOWHERE = "none";

/** What kind of source a message came from. Nothing outside a channel ever asks for a channel's name. */
export type Origin = "chat" | "cron" | "heartbeat" | "subagent" | "api";

/** What began a turn, and what that noted of its message. */
export interface Source {
  readonly origin: Origin;
  readonly metadata: JsonObject;
}

/** A file beside a message, already on disk. `path` is absolute; `mime` is what its magic bytes say. */
export interface Media {
  readonly path: string;
  readonly mime: string;
  readonly name?: string;
}

/** One event for the agent. A `note` is a line for the session's history that calls no model. */
export interface InboundMessage {
  readonly id: InboundId;
  readonly kind: "message" | "note";
  readonly channel: string;
  readonly senderId: string;
  readonly chatId: string;
  readonly content: string;
  readonly media: readonly Media[];
  /** ISO 8601, UTC, with `Z`. */
  readonly timestamp: string;
  readonly origin: Origin;
  /** `channel:chatId`, unless the channel keeps threads or topics apart. */
  readonly sessionKey: string;
  /** The thread or topic of the chat that it was said in; answers go there. */
  readonly thread?: string;
  /** The platform's message that an answer should quote. */
  readonly replyTo?: string;
  /** Of what came of a task: what began the turn that asked for it. Whoever hears of that turn hears of this. */
  readonly askedBy?: Source;
  readonly metadata: JsonObject;
}

/** What a turn goes back to in the end. */
export function sourceOf({ askedBy, origin, metadata }: InboundMessage): Source {
  return askedBy ?? { origin, metadata };
}

/** A button. Whoever presses it says `send` in the chat. */
export interface Button {
  readonly label: string;
  readonly send: string;
}

interface OutboundBase {
  readonly id: OutboundId;
  readonly channel: string;
  readonly chatId: string;
  readonly thread?: string;
  /** The turn this belongs to: the id of the inbound message that started it. */
  readonly turn: InboundId;
  readonly content: string;
  readonly metadata: JsonObject;
}

/**
 * Everything that must arrive: answers, error sentences, command replies, notices, what the `message` tool
 * sends. The only durable kind. A channel `none` means that nobody is told: it is done at once. `answers` lists every inbound message that needs no other reply after this one.
 */
export interface FinalMessage extends OutboundBase {
  readonly kind: "final";
  readonly outcome: "answer" | "error" | "stopped" | "command" | "notice" | "message";
  readonly answers: readonly InboundId[];
  readonly media: readonly Media[];
  readonly replyTo?: string;
  /** In rows. */
  readonly buttons?: readonly (readonly Button[])[];
}

/** What may be shown while a turn runs, and may be lost. `content` of a `streamEnd` is empty. */
export interface TransientMessage extends OutboundBase {
  readonly kind: "progress" | "toolHint" | "delta" | "reasoning";
  /** What an answer should quote that is shown as it grows. */
  readonly replyTo?: string;
}

/** The text streamed so far is complete; `resuming` says that tools run and more text will follow. */
export interface StreamEndMessage extends OutboundBase {
  readonly kind: "streamEnd";
  readonly resuming: boolean;
}

export type OutboundMessage = FinalMessage | TransientMessage | StreamEndMessage;

/** The id of the one final message that answers `id`. Derived, so that a repeated turn cannot answer twice. */
export function finalIdFor(id: InboundId): OutboundId {
  return `${id}/final` as OutboundId;
}

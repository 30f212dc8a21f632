/** A channel: the only kind of sink, and one kind of source. */

import type * as v from "valibot";
import type { AskOwner } from "./approval.ts";
import type { HttpInfo } from "./http.ts";
import type { MediaStore } from "./media.ts";
import type {
  Button,
  FinalMessage,
  InboundMessage,
  Media,
  OutboundMessage,
  StreamEndMessage,
  TransientMessage,
} from "./messages.ts";
import type { Clock, Environment, FileSystem, Ids, Log, Terminal } from "./platform.ts";

/** What the platform can do. Delivery decides by these and never by a name. */
export interface ChannelCapabilities {
  /** The longest text of one message, after rendering, and the unit the platform counts in; absent when there is no limit. */
  readonly limit?: { readonly size: number; readonly unit: "utf16" | "codepoints" | "bytes" };
  readonly markup: "markdown" | "html" | "plain";
  /** A message that was sent can be changed. */
  readonly edits: boolean;
  /** Takes every piece of text as it comes, by `show`, and needs no edits for that. */
  readonly deltas: boolean;
  readonly typing: boolean;
  readonly reactions: boolean;
  readonly buttons: boolean;
  /** The platform drops a second send with the same key. */
  readonly idempotencyKey: boolean;
  /** Who is there waits for the final message of each turn, and must get it even when a tool has sent them something. */
  readonly waitsForFinal?: boolean;
}

/** Where in a channel something is shown. */
export interface ChatPlace {
  readonly chatId: string;
  readonly thread?: string;
}

/** One message of the platform: a piece of a longer one, or a file of it. */
export interface OutboundPart extends ChatPlace {
  /** The whole that it is a part of. */
  readonly message: OutboundMessage;
  readonly index: number;
  /** The same at every attempt, and different for every part: up to 64 letters, digits, `-` and `_`. */
  readonly key: string;
  /** What the platform should quote, in the first part only. */
  readonly replyTo?: string;
  readonly content:
    | {
        readonly kind: "text";
        /** Within the limit, in the markup of the channel; without any when `isPlain`. */
        readonly text: string;
        readonly isPlain: boolean;
        readonly buttons?: readonly (readonly Button[])[];
      }
    | { readonly kind: "media"; readonly media: Media };
}

/**
 * Why the platform did not take something; what to do about it follows from `kind`.
 *
 * - `markup`: it refuses the markup; the same text without any would do.
 * - `gone`: the message that was to be changed, or quoted, is not there any more.
 * - `slowDown`: it asks to wait `retryAfterMs`, which counts as no failure.
 * - `temporary`: this one may work when it is tried again.
 * - `down`: it cannot be reached, or is out of order for everybody. Waited for, and counts as no failure.
 * - `refused`: it will not take this one, however often it is tried: the chat is gone, the bot was blocked.
 * - `unauthorized`: the credentials are wrong. The channel ends, and what waits is kept.
 */
export class SendError extends Error {
  override readonly name = "SendError";
  readonly kind: "markup" | "gone" | "slowDown" | "temporary" | "down" | "refused" | "unauthorized";
  /** With `slowDown`, at least 0. */
  readonly retryAfterMs: number;

  /** The message holds no secret, such as a token in an address. */
  constructor(
    kind: SendError["kind"],
    message: string,
    { retryAfterMs = 0, cause }: { retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Who says something, as far as it matters for whether anybody listens. */
export interface Sender extends ChatPlace {
  /** One id, or several of the same person with `|` between them: `123456789|alice`. */
  readonly senderId: string;
  readonly isPrivate: boolean;
  /** It is meant for the agent: a private chat, a mention of it, a reply to it, a command with its name. */
  readonly isAddressed: boolean;
  /** The platform's event, as in `InboundMessage.id`. */
  readonly eventId: string;
  /** For lists that people read, as the platform shows it. Not trusted. */
  readonly displayName?: string;
}

export interface ChannelContext {
  /**
   * Whether somebody is listened to. Asked before anything of theirs is fetched or stored. What they are told
   * otherwise, if anything, is safe with the bus when it resolves to `false`.
   */
  admit(sender: Sender): Promise<boolean>;
  /**
   * Resolves when the message is safe with the bus; only then may the platform be told so. To `false` when it
   * came before. Rejects when it cannot be written, or with the signal's reason when it had to wait too long.
   */
  emit(message: InboundMessage, signal: AbortSignal): Promise<boolean>;
  /** The platform was heard from, with or without news. */
  heard(): void;
  /** Whether the channel is connected, for status and `/ready`. `detail` is for people. */
  report(state: { readonly isConnected: boolean; readonly detail?: string }): void;
  /** Keeps it out of logs and answers from now on. */
  addSecret(secret: string): void;
  /** Fills in `${VARIABLE}`; throws a `UserError` that names the setting when it is not set. */
  expand(value: string, setting: string): string;
  /** Resolves when nothing that was begun here has anything more to say. Left out where nobody waits for that. */
  readonly quiet?: () => Promise<void>;
  readonly media: () => Promise<MediaStore>;
  /** Goes through the proxy of the environment, where there is one. */
  readonly fetch: typeof fetch;
  readonly env: Environment;
  readonly clock: Clock;
  readonly random: () => number;
  readonly ids: Ids;
  readonly log: Log;
  readonly terminal: Terminal;
  readonly files: FileSystem;
  /** `gateway.publicUrl`, if it is set: where the platform can reach us, without a slash at its end. */
  readonly publicUrl: string | undefined;
  /** Absolute and real. */
  readonly workspace: string;
}

/** Mounted by the gateway below the channel's own path. */
export interface ChannelRoute {
  /** Below `/webhook/<channel>`, or absolute where the channel says `isAbsolute`: `""`, `/:name`. Hono's patterns. */
  readonly path: string;
  readonly isAbsolute?: boolean;
  /** The body is not read yet. Whatever it throws is answered with 500 and logged. */
  fetch(request: Request, info: HttpInfo): Promise<Response>;
}

export interface Channel {
  /**
   * Receives until `signal` aborts or the source is at its end, then resolves. Rejects when it cannot go on:
   * with a `SendError` `unauthorized` or a `UserError` for what only the owner can mend, which ends the channel,
   * else it is started again after a while.
   */
  start(signal: AbortSignal): Promise<void>;
  /** Frees what `start` holds. Safe to call at any time, more than once. */
  stop(): Promise<void>;
  /** Resolves to the platform's name for it, or to "" where it has none. Rejects with a `SendError`. */
  send(part: OutboundPart, signal: AbortSignal): Promise<string>;
  /** Changes a message that was sent, and resolves too when it is so already. Omitted without `edits`. */
  edit?(messageId: string, part: OutboundPart, signal: AbortSignal): Promise<void>;
  /** The text is shown as it grows, by edits at most this often. Omitted where it is not. */
  readonly streaming?: { readonly intervalMs: number };
  /** Markdown as the platform's markup, nested right whatever comes in. Omitted where markup is `markdown`. */
  render?(markdown: string): string;
  /** Takes what may be lost. Omitted without `deltas`. */
  show?(message: TransientMessage | StreamEndMessage, signal: AbortSignal): Promise<void>;
  /** Shows for a few seconds that something is being written. Omitted without `typing`. */
  showTyping?(place: ChatPlace, signal: AbortSignal): Promise<void>;
  /** After the turn's last part was sent. Omitted where nobody needs to know, such as a request that waits. */
  ended?(message: FinalMessage): Promise<void>;
  readonly routes?: readonly ChannelRoute[];
  /** Tries the credentials without receiving, and says whose they are. Rejects with a `SendError`. */
  check?(signal: AbortSignal): Promise<string>;
  /** Puts a question to the owner, who is there and answers at once. Omitted where nobody is. */
  ask?: AskOwner;
}

export interface ChannelDefinition<Schema extends v.GenericSchema = v.GenericSchema> {
  readonly name: string;
  /** Of the channel's block, without the keys that all channels share. */
  readonly config: Schema;
  readonly capabilities: ChannelCapabilities;
  /**
   * What lets somebody in: who they are, by `allowFrom` and pairing, or `secret`, which whoever sends anything has
   * proved to know, so that the channel never asks `admit`. Senders, when left out.
   */
  readonly admits?: "senders" | "secret";
  /** The platform's library is imported in here, so that a channel that is not enabled loads nothing. */
  create(config: v.InferOutput<Schema>, context: ChannelContext): Promise<Channel>;
}

/** Declares a channel and infers the type of its configuration. */
export function defineChannel<Schema extends v.GenericSchema>(
  channel: ChannelDefinition<Schema>,
): ChannelDefinition<Schema> {
  return channel;
}

/** What is known of a channel that was started, for `channels status` and `/ready`. */
export interface ChannelStatus {
  readonly name: string;
  readonly state: "starting" | "connected" | "disconnected" | "failed" | "stopped";
  /** For people: who it is connected as, or what is wrong. */
  readonly detail: string | undefined;
  /** When the platform was last heard from: ISO 8601, UTC. */
  readonly heardAt: string | undefined;
  /** How often it was started again since the last time it worked. */
  readonly restarts: number;
}

/** A channel: the only kind of sink, and one kind of source. */

import type * as v from "valibot";
import type { AskOwner } from "./approval.ts";
import type { InboundMessage, OutboundMessage } from "./messages.ts";
import type { Clock, FileSystem, Ids, Log, Terminal } from "./platform.ts";

/** What the platform can do. Delivery decides by these and never by a name. */
export interface ChannelCapabilities {
  /** The longest text of one message and the unit the platform counts in; absent when there is no limit. */
  readonly limit?: { readonly size: number; readonly unit: "utf16" | "codepoints" | "bytes" };
  readonly markup: "markdown" | "html" | "plain";
  readonly edits: boolean;
  readonly typing: boolean;
  readonly reactions: boolean;
  /** The platform drops a second send with the same key. */
  readonly idempotencyKey: boolean;
}

export interface ChannelContext {
  /** Resolves when the message is safe with the bus; only then may the platform be told so. */
  emit(message: InboundMessage): Promise<void>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly terminal: Terminal;
  readonly files: FileSystem;
}

export interface Channel {
  /**
   * Receives until `signal` aborts or the source is at its end, then resolves. Rejects when it cannot
   * go on; whoever started it decides whether to start it again.
   */
  start(signal: AbortSignal): Promise<void>;
  /** Frees what `start` holds. Safe to call at any time, more than once. */
  stop(): Promise<void>;
  /** Shows one message of any kind. Rejects when the platform did not take it. */
  send(message: OutboundMessage, signal: AbortSignal): Promise<void>;
  /** Puts a question to the owner, who is there and answers at once. Omitted where nobody is. */
  ask?: AskOwner;
}

export interface ChannelDefinition<Schema extends v.GenericSchema = v.GenericSchema> {
  readonly name: string;
  readonly config: Schema;
  readonly capabilities: ChannelCapabilities;
  /** The platform's library is imported in here, so that a channel that is not enabled loads nothing. */
  create(config: v.InferOutput<Schema>, context: ChannelContext): Promise<Channel>;
}

/** Declares a channel and infers the type of its configuration. */
export function defineChannel<Schema extends v.GenericSchema>(
  channel: ChannelDefinition<Schema>,
): ChannelDefinition<Schema> {
  return channel;
}

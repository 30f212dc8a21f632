/** The bus: the one way from sources to the agent and from the agent to channels. */

import type { InboundMessage, OutboundMessage } from "./messages.ts";

/** A message that was handed out and is not finished. It is handed out again after a restart until `done`. */
export interface Delivery<Message> {
  readonly message: Message;
  /** Marks the message finished. Calling it again does nothing. */
  done(): Promise<void>;
}

/**
 * A bounded queue in each direction. Over the bound (10,000 messages or 64 MiB inbound, the same for
 * each channel outbound) publishing waits; aborting `signal` gives up with its reason and nothing is put.
 *
 * A durable backend resolves `publish…` when the message is on disk and rejects when it cannot be written.
 * Order is kept per direction. There is one consumer a direction: a second iteration of `inbound` or
 * `outbound` throws. Iteration ends, without an error, when its signal aborts.
 */
export interface Bus {
  /** Resolves to `false`, and puts nothing, when this id was put before. */
  publishInbound(message: InboundMessage, signal: AbortSignal): Promise<boolean>;
  inbound(signal: AbortSignal): AsyncIterable<Delivery<InboundMessage>>;
  /** Resolves to `false`, and puts nothing, when it is a `final` whose id was put before. */
  publishOutbound(message: OutboundMessage, signal: AbortSignal): Promise<boolean>;
  outbound(signal: AbortSignal): AsyncIterable<Delivery<OutboundMessage>>;
}

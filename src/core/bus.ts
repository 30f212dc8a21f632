/** The bus: the one way from sources to the agent and from the agent to channels. */

import type { InboundId, InboundMessage, OutboundId, OutboundMessage } from "./messages.ts";

/** A message that was handed out and is not finished. It is handed out again after a restart until `done`. */
export interface Delivery<Message> {
  readonly message: Message;
  /** Marks the message finished. Calling it again does nothing. */
  done(): Promise<void>;
}

export interface InboundDelivery extends Delivery<InboundMessage> {
  /** It was put by a process that ended before it was done: its turn may have begun. */
  readonly isRedelivered: boolean;
  /**
   * Records that its turn begins again, with `progress` lines of its session behind it. Written when it
   * resolves, to how many times in a row it began with just as many, this one included.
   */
  resume(progress: number): Promise<number>;
}

export interface OutboundDelivery extends Delivery<OutboundMessage> {
  /** What the platform called the parts that were sent so far, in order; empty where it gave no name. */
  readonly sent: readonly string[];
  /** It is done, has failed or was dropped: no more of it is to be sent. */
  readonly isOver: boolean;
  /** One more part was taken by the platform. Written when it resolves. */
  part(messageId: string): Promise<void>;
  /** Ends the attempts. The message is kept until somebody retries or drops it, and holds up nobody. */
  failed(reason: string): Promise<void>;
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
  inbound(signal: AbortSignal): AsyncIterable<InboundDelivery>;
  /** Whether this message was put and is not done. */
  isPending(id: InboundId): boolean;
  /** Resolves to `false`, and puts nothing, when it is a `final` whose id was put before. */
  publishOutbound(message: OutboundMessage, signal: AbortSignal): Promise<boolean>;
  outbound(signal: AbortSignal): AsyncIterable<OutboundDelivery>;
  /** The platform's message in which the text of `turn` is being shown, if it is not complete. */
  openStream(turn: InboundId): string | undefined;
  /** Records that message, or with `undefined` that it is complete. Written when it resolves. Forgotten with the turn. */
  recordStream(turn: InboundId, messageId: string | undefined): Promise<void>;
}

/** A final message that is not delivered. */
export interface OutboxEntry {
  readonly id: OutboundId;
  readonly channel: string;
  readonly chatId: string;
  readonly thread: string | undefined;
  readonly state: "waiting" | "failed";
  /** Why it failed. */
  readonly reason: string | undefined;
  /** When it was put: ISO 8601, UTC. */
  readonly createdAt: string;
  /** Parts that the platform has. */
  readonly sent: number;
  readonly content: string;
}

/** Characters of a message that lists of them show. */
export const OUTBOX_PREVIEW = 500;

export interface Outbox {
  /** Oldest first. */
  list(): readonly OutboxEntry[];
  /** Lets a failed message be sent again, from the part it stopped at. `false` when there is no such. */
  retry(id: OutboundId): Promise<boolean>;
  /** Forgets a message, failed or waiting. `false` when there is no such. */
  drop(id: OutboundId): Promise<boolean>;
}

/** A bus whose messages survive the process. */
export interface DurableBus extends Bus {
  readonly outbox: Outbox;
  /** Why nothing can be published now; `undefined` when it can. */
  problem(): string | undefined;
  /** Resolves when all that was recorded is on disk and the files are closed. */
  close(): Promise<void>;
}

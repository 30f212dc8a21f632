/** What delivery is told of a channel, and what it tells when something cannot be delivered. */

import type { Channel, ChannelCapabilities } from "../../core/channel.ts";
import type { FinalMessage } from "../../core/messages.ts";

export interface DeliverySettings {
  readonly sendProgress: boolean;
  readonly sendToolHints: boolean;
  readonly showReasoning: boolean;
  /** How often something is tried again that may work then. */
  readonly maxRetries: number;
}

/** A channel that runs. */
export interface Target {
  readonly channel: Channel;
  readonly capabilities: ChannelCapabilities;
  readonly settings: DeliverySettings;
}

/** `undefined` while there is no such channel, or it does not run. */
export type ChannelOf = (name: string) => Target | undefined;

export interface Undelivered {
  readonly message: FinalMessage;
  readonly reason: string;
  /** Parts that the platform has. */
  readonly sent: number;
}

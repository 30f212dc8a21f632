/** Who may talk to the agent, who owns it, and how somebody new is let in. */

/** Somebody who wrote and waits to be let in. */
export interface PendingPairing {
  /** 8 characters of `A-Z` and `2-9`, shown as `ABCD-EFGH`. */
  readonly code: string;
  readonly channel: string;
  readonly senderId: string;
  readonly chatId: string;
  /** As the platform shows it; not trusted. */
  readonly displayName: string | undefined;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
}

export interface ApprovedSender {
  readonly channel: string;
  readonly senderId: string;
  /** ISO 8601, UTC; absent in files of the original. */
  readonly approvedAt: string | undefined;
}

/** What `pairing.json` holds. A damaged file lets nobody in. */
export interface Pairing {
  list(): Promise<{
    readonly pending: readonly PendingPairing[];
    readonly approved: readonly ApprovedSender[];
  }>;
  /** Codes in any case, with or without the dash. `undefined` for one that is unknown or too old. */
  approve(code: string): Promise<PendingPairing | undefined>;
  deny(code: string): Promise<PendingPairing | undefined>;
  /** Takes back what was approved. `false` when there is no such. Without a channel in any. */
  revoke(senderId: string, channel?: string): Promise<boolean>;
}

/** A chat, as in `channel:chatId`. */
export interface Chat {
  readonly channel: string;
  readonly chatId: string;
}

/** Finds the owner's chat: `gateway.owner`, else the latest active private chat of somebody let in by name or pairing. */
export type FindOwner = () => Promise<Chat | undefined>;

/** On whose behalf tools run. */

import type { InboundId, Origin, Source } from "./messages.ts";

/** On whose behalf calls run: one object for all calls of a turn, whose `signal` is that of the turn. */
export interface ToolRun {
  readonly sessionKey: string;
  readonly turn: InboundId;
  /** Who sent the message that is being answered. */
  readonly sender: string;
  readonly origin: Origin;
  /** The chat that is being answered. */
  readonly channel: string;
  readonly chatId: string;
  readonly thread?: string;
  /** What the turn goes back to, where nobody waits for it. */
  readonly source?: Source;
  /** Aborted by `/stop` and at shutdown. What runs settles soon after, in any way. */
  readonly signal: AbortSignal;
}

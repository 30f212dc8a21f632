/** A turn while it runs, and its one link to whoever started it. */

import type { TurnEnded } from "../core/events.ts";
import type { InboundId, InboundMessage } from "../core/messages.ts";
import type { Session } from "../core/session.ts";
import type { AgentDeps } from "./deps.ts";

export type TurnStatus = Exclude<TurnEnded["status"], "command">;

/** What a turn has to do with whoever starts it. */
export interface TurnPort {
  /** A process that ended may have begun it. */
  readonly isRedelivered: boolean;
  /** See `InboundDelivery.resume`. */
  resume(progress: number): Promise<number>;
  /** These had joined the turn before that process ended, and are answered with it. */
  rejoin(ids: readonly InboundId[]): void;
  /** Takes the messages that wait behind the turn and join it now, up to the first that `canJoin` says no to. */
  join(canJoin: (message: InboundMessage) => boolean): readonly InboundMessage[];
}

/** A turn while it runs. */
export interface RunningTurn {
  readonly message: InboundMessage;
  readonly session: Session;
  readonly deps: AgentDeps;
  readonly signal: AbortSignal;
  readonly port: TurnPort;
  /** Messages that it answers beside its own. It grows. */
  readonly joined: InboundId[];
  /** The session has its answer: whatever goes wrong from now on, nothing else is said in its place. */
  isAnswered: boolean;
  /** What the conversation may take of the prompt, in tokens by our estimate; known once the prompt is made. */
  budget: number;
}

/** What a chat command can reach, and what it is. */

import type { InboundMessage } from "../core/messages.ts";
import type { AgentDeps } from "./deps.ts";

/** What dispatch does for a command. */
export interface CommandPort {
  readonly deps: AgentDeps;
  readonly message: InboundMessage;
  /** Aborted at shutdown. */
  readonly signal: AbortSignal;
  /** Turns that run or wait, over all sessions. */
  readonly active: () => number;
  /** Commands of this session that go on. */
  leftRunning(): Promise<number>;
  readonly startedAt: number;
  /**
   * Ends what runs and waits in this session now, commands that go on included, takes over answering it, and
   * resolves to how many that were.
   */
  stopSession(): Promise<number>;
  /**
   * Runs `task` after what is in the session's lane now, and before what comes later, which waits for the answer to the
   * command too. Once in a command.
   */
  inLane<T>(task: () => Promise<T>): Promise<T>;
}

export interface Reply {
  readonly content: string;
  /** Done when the reply is safe and the command is recorded as done. */
  readonly afterwards?: () => void;
}

/** Resolves to the reply. `rest` is what stood behind the command. */
export type CommandHandler = (port: CommandPort, rest: string) => Promise<string | Reply>;

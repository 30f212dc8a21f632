/** Tasks that subagents work on, each in a thread of its own. */

import type { ToolRun } from "./tool-run.ts";

export interface TaskInfo {
  /** Short, and stable over restarts. */
  readonly id: string;
  readonly label: string;
  readonly task: string;
  /** The session that asked for it. */
  readonly sessionKey: string;
  readonly state: "queued" | "running" | "done" | "failed" | "stopped" | "interrupted";
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly endedAt: string | undefined;
  /** Calls of tools so far. */
  readonly toolCalls: number;
}

export interface TaskRequest {
  readonly task: string;
  readonly label?: string | undefined;
  /** Of the subagent's model, 0 to 2; left out, it is the one that is configured. */
  readonly temperature?: number | undefined;
  /**
   * The result is waited for, and comes back here instead of as a message. The task ends with the asker's signal. When
   * the program ended meanwhile, the same call is answered with `interrupted`: what was begun is not done twice.
   */
  readonly wait: boolean;
  /** The call's identity: the same call never begins a second task. */
  readonly key: string;
}

export interface TaskResult {
  readonly state: Exclude<TaskInfo["state"], "queued" | "running">;
  /** The subagent's last words, or what became of it. */
  readonly text: string;
}

/** What the `spawn` tool reaches. */
export interface Spawner {
  /**
   * Resolves when the task is recorded, and with `wait` when it has ended. Throws a `UserError` in words for the model
   * where no task may begin now.
   */
  spawn(request: TaskRequest): Promise<{ readonly task: TaskInfo; readonly result?: TaskResult }>;
}

export interface Tasks {
  spawnerFor(asker: ToolRun): Spawner;
  /** Those that run or wait, and the latest that ended; oldest first. */
  list(): readonly TaskInfo[];
  /** Ends those of a session, which are not reported then. Resolves to how many those were. */
  stop(sessionKey: string): Promise<number>;
  /** How many of a session run or wait. */
  count(sessionKey: string): number;
  /** Reports tasks that an earlier process left unfinished. Called once, before the first `spawn`. */
  recover(): Promise<void>;
  /** Resolves when none runs or waits and every result is with the bus, or `signal` aborts. */
  settled(signal: AbortSignal): Promise<void>;
  /** Ends all, which the next process reports as interrupted. */
  close(): Promise<void>;
}

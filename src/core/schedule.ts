/** Jobs: what the agent is told to do at a time, and where what comes of it goes. */

import type { InboundMessage } from "./messages.ts";

export type Schedule =
  | { readonly kind: "at"; readonly atMs: number }
  | { readonly kind: "every"; readonly everyMs: number }
  /** Without a zone in the agent's. */
  | { readonly kind: "cron"; readonly expr: string; readonly tz?: string };

export interface JobRun {
  readonly runAtMs: number;
  readonly status: "ok" | "error" | "skipped";
  readonly durationMs: number;
  readonly error?: string;
}

export interface Job {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly schedule: Schedule;
  readonly message: string;
  /** Whether somebody is told what comes of it. */
  readonly deliver: boolean;
  /** The chat that is told; without one the owner. */
  readonly to?: {
    readonly channel: string;
    readonly chatId: string;
    readonly thread?: string;
    /** The session that the job was made in, which is to know what it came to. */
    readonly sessionKey?: string;
  };
  /** What becomes of a run whose time passed while nobody was there: made up for once, or left out. */
  readonly misfire: "once" | "skip";
  readonly deleteAfterRun: boolean;
  readonly nextRunAtMs: number | undefined;
  readonly lastRunAtMs: number | undefined;
  readonly lastStatus: JobRun["status"] | undefined;
  readonly lastError: string | undefined;
  /** Oldest first, at most 20. */
  readonly runs: readonly JobRun[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface NewJob {
  readonly name: string;
  readonly schedule: Schedule;
  readonly message: string;
  readonly deliver: boolean;
  readonly to?: Job["to"];
  readonly misfire?: Job["misfire"];
  /** Left out, jobs of one time are deleted and others are not. */
  readonly deleteAfterRun?: boolean;
}

/** The jobs of a workspace, whoever else changes their file. Each throws a `UserError` when the file cannot be understood. */
export interface Jobs {
  /** The agent's: of expressions that name none, and of the times that people and models are told. */
  readonly timeZone: string;
  /** As in the file. */
  list(): Promise<readonly Job[]>;
  /** Throws a `UserError` for a time that is past, an unknown zone, an expression that is none, and one job too many. */
  add(job: NewJob): Promise<Job>;
  /** `undefined` when there is no such. */
  remove(id: string): Promise<Job | undefined>;
  setEnabled(id: string, enabled: boolean): Promise<Job | undefined>;
}

/** An element of the file that cannot be understood, and is left as it is. */
export interface UnreadableJob {
  /** In the list, counted from 1. */
  readonly place: number;
  /** As far as it names them. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** In words. */
  readonly problem: string;
}

/** What the owner sees beside what the agent does. */
export interface OwnersJobs extends Jobs {
  /** Throws a `UserError` as `list` does. */
  unreadable(): Promise<readonly UnreadableJob[]>;
}

/** What a turn came to that nobody is waiting for. */
export interface BackgroundResult {
  readonly outcome: "answer" | "error";
  readonly content: string;
}

/** A chat that is told. */
export interface RouteTarget {
  readonly channel: string;
  readonly chatId: string;
  readonly thread?: string;
  /** The session that knows of it then; without one that of the chat. */
  readonly sessionKey?: string;
  /** In the place of the result's own text. */
  readonly content?: string;
}

/**
 * Decides who hears of the result of a turn that its source began of its own accord; `undefined` is nobody. Asked
 * again, with the same result, when the process ended before the answer was safe, and when it rejected.
 */
export type Route = (
  inbound: InboundMessage,
  result: BackgroundResult,
  signal: AbortSignal,
) => Promise<RouteTarget | undefined>;

/** What a look at the tasks of the heartbeat came to. */
export type BeatResult =
  | { readonly kind: "no tasks" | "skipped" | "begun" | "running already" }
  | { readonly kind: "paused"; readonly leftMs: number }
  /** Nothing is done, because the model did not say whether anything is due; `problem` says why. */
  | { readonly kind: "undecided"; readonly problem: string };

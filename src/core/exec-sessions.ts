/** Commands that go on after the call that started them: input, more output, and an end for each. */

import type { ProcessExit, ProcessOutput } from "./platform.ts";
import type { RealPath, ShellChoice, ShellName } from "./tool.ts";

export interface ExecSessionInfo {
  readonly id: string;
  readonly command: string;
  /** As it is shown. */
  readonly cwdShown: string;
  readonly running: boolean;
  /** Since it was started, and since anything was written to or read from it. */
  readonly elapsedMs: number;
  readonly idleMs: number;
  /** Until its time is up; `undefined` when it has no limit. */
  readonly remainingMs: number | undefined;
}

/** What has to be known of a session that runs to judge what is to be written to it. */
export interface ExecSessionInput {
  readonly command: string;
  readonly cwd: RealPath;
  readonly shell: ShellName | undefined;
  /** All that was written to it; `undefined` when that is more than is remembered. */
  readonly written: string | undefined;
}

/** What a session has said since it was last asked, and how it stands. */
export interface ExecSessionReport extends ProcessOutput {
  /** The text that was waited for was in it. */
  readonly seen: boolean;
  /**
   * Absent while it runs. A session that has ended is forgotten once this was told. `aborted` is one that
   * its owner ended, `idle` one that nobody asked for.
   */
  readonly ended?: Omit<ProcessExit, "ended"> & { readonly ended: ProcessExit["ended"] | "idle" };
}

export interface ExecSessionStart extends ShellChoice {
  readonly command: string;
  readonly cwd: RealPath;
  /** As it is shown. */
  readonly cwdShown: string;
  /** 0 means no limit. */
  readonly timeoutSeconds: number;
  /** The key of the conversation it belongs to: no other can see or reach it. */
  readonly owner: string;
}

export interface WaitOptions {
  /** Returns this soon at the latest. */
  readonly waitMs: number;
  /** And before, when this text is in what was said since it was last asked. */
  readonly until?: string;
  readonly signal: AbortSignal;
}

/**
 * At most 8 run in the whole program; one that nobody asks for in 30 minutes is ended. `start` and `read`
 * reject with the signal's reason, and with a `UserError` where the sandbox could not be made.
 */
export interface ExecSessions {
  /**
   * Starts a command and waits a while for its end. Throws a `UserError` when there are too many. A command
   * whose caller stops waiting is ended: nobody would know of it.
   */
  start(start: ExecSessionStart, wait: WaitOptions): Promise<{ id: string; report: ExecSessionReport }>;
  /** `undefined` when the owner has no such session. */
  read(id: string, owner: string, wait: WaitOptions): Promise<ExecSessionReport | undefined>;
  /** `undefined` when the owner has no such session, or it has ended. */
  input(id: string, owner: string): ExecSessionInput | undefined;
  /** Rejects with a `UserError` when it takes no more. `false` when the owner has no such session. */
  write(id: string, owner: string, input: { text?: string; close?: boolean }): Promise<boolean>;
  /** Ends one with all its descendants. Never rejects. `false` when the owner has no such session. */
  end(id: string, owner: string): Promise<boolean>;
  list(owner: string): readonly ExecSessionInfo[];
  /** Ends and forgets all of an owner's, and resolves to how many ran: for `/stop`. Never rejects. */
  endOf(owner: string): Promise<number>;
}

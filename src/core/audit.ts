/** The record of what was done: one line for every call of a tool, each bound to the one before it. */

import type { InboundId, Origin } from "./messages.ts";

export type AuditDecision =
  | { readonly kind: "ran" }
  /** The owner was asked and said yes. */
  | { readonly kind: "approved"; readonly by: string }
  | { readonly kind: "refused"; readonly why: string; readonly by?: string }
  /** It had started in a process that ended, and nobody knows how far it came. */
  | { readonly kind: "interrupted" };

/** A call as it is recorded. Texts are masked and bounded by whoever makes it. */
export interface AuditEntry {
  /** The call's own id: turn, round, index. */
  readonly call: string;
  readonly turn: InboundId;
  readonly session: string;
  readonly origin: Origin;
  readonly sender: string;
  readonly tool: string;
  readonly arguments: string;
  readonly decision: AuditDecision;
  /** As the result said: `false` also of what was refused. */
  readonly ok: boolean;
  /** Milliseconds, waiting for the owner included. */
  readonly durationMs: number;
  /** The beginning of what went wrong. */
  readonly error?: string;
  readonly exitCode?: number | null;
  /** The result holds what somebody else may have written. */
  readonly external?: boolean;
  /** SHA-256 of the result's text as the model got it, in hexadecimal; absent when there is none. */
  readonly digest?: string;
}

/** A line of the log. */
export interface AuditRecord extends AuditEntry {
  /** Sortable and unique: what `audit show` takes. */
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly hash: string;
  /** How many calls could not be recorded before this was written. */
  readonly lost?: number;
}

export interface AuditFilter {
  readonly session?: string;
  readonly tool?: string;
  /** Milliseconds since the epoch. */
  readonly since?: number;
}

export type AuditProblem =
  /** `line` counts from 1 in `file`. */
  | {
      readonly kind: "changed" | "missing" | "reordered" | "unreadable" | "lost";
      readonly file: string;
      readonly line: number;
      readonly detail: string;
    }
  | { readonly kind: "truncated"; readonly file: string; readonly detail: string };

export interface AuditVerdict {
  readonly ok: boolean;
  readonly lines: number;
  /** Lines that were written after the anchor of the end was last moved. */
  readonly unanchored: number;
  /** A line was cut short by a crash: no problem. */
  readonly torn: boolean;
  /** The first 1,000 of them. */
  readonly problems: readonly AuditProblem[];
  /** How many there are beside those, if there are more. */
  readonly more?: number;
}

/** Reading rejects with the signal's reason, and with a `UserError` where the log cannot be read or is of a newer version. */
export interface AuditLog {
  /** Never throws and never waits: that calls cannot be written is told to the log of the program, and by the next line. */
  record(entry: AuditEntry): void;
  /** Resolves when all that was recorded is on disk and anchored, or lost. Never rejects. */
  flush(): Promise<void>;
  /** Newest first, as the log was when it was asked for. Damaged lines are left out. */
  list(filter: AuditFilter, signal: AbortSignal): AsyncIterable<AuditRecord>;
  /** The record with this id, or of the call with this id. */
  find(id: string, signal: AbortSignal): Promise<AuditRecord | undefined>;
  verify(signal: AbortSignal): Promise<AuditVerdict>;
}

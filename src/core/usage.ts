/** What calls to models used and cost: the record of each, and the port to all of them. */

import type { Origin } from "./messages.ts";
import type { Caller, ChatReply, ChatRequest } from "./model.ts";

/** One call over the wire, as it is told to whoever keeps the record. */
export interface ModelCall {
  readonly provider: string;
  /** As its provider knows it. */
  readonly model: string;
  readonly request: ChatRequest;
  readonly reply: ChatReply;
  /** The deltas of its reasoning joined. */
  readonly thought: string;
  readonly caller: Caller | undefined;
  readonly latencyMs: number;
}

/** One call, as it is stored: a line of JSON with these keys. Tokens are counted as `Usage` says. */
export interface UsageRecord {
  /** When it ended: ISO 8601, UTC, with `Z`. */
  readonly time: string;
  /** The key of the session it was made for. */
  readonly session: string;
  readonly origin: Origin;
  readonly model: string;
  readonly provider: string;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning: number;
  readonly latency_ms: number;
  /** US dollars. Absent when nobody knows. */
  readonly cost?: number;
  /** The provider gave no count, so the tokens are our own guess. */
  readonly estimated?: true;
  readonly failed?: true;
}

/** What a model costs its user, in US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** For input that was read from the provider's cache; without it the price of other input. */
  readonly cached?: number | undefined;
}

export const usageGroupings = ["day", "model", "origin", "session"] as const;
export type UsageGrouping = (typeof usageGroupings)[number];

/** What a number of calls used together. */
export interface UsageTotals {
  readonly calls: number;
  readonly failed: number;
  /** How many calls have tokens that were guessed. */
  readonly estimated: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning: number;
  /** US dollars, of the calls whose cost is known. Absent when none is. */
  readonly cost?: number;
  /** How many calls used tokens at a cost that is not known. */
  readonly unpriced: number;
}

export interface UsageGroup extends UsageTotals {
  /** The day (`2026-11-30`), the model, the origin or the session. */
  readonly name: string;
}

export interface UsageSummary {
  /** Days in their order, everything else by tokens, the most first. */
  readonly groups: readonly UsageGroup[];
  /** What belongs to groups beyond the number that is kept apart. */
  readonly others?: UsageTotals;
  readonly total: UsageTotals;
  /** Models some of whose calls have no known cost: a few of them, the one with the most such calls first. */
  readonly unpricedModels: readonly string[];
}

export interface UsageStore {
  /** In whose days the summary counts. */
  readonly timeZone: string;
  /** Never throws and never waits: what cannot be written is lost, with a warning in the log. */
  record(entry: UsageRecord): void;
  /** Resolves when everything recorded so far is written, or lost. Never rejects. */
  flush(): Promise<void>;
  /** The calls since `since` (milliseconds since the epoch), oldest first. Lines that are damaged are left out. */
  read(options: { since?: number; signal: AbortSignal }): AsyncIterable<UsageRecord>;
  /** Throws a `UserError` when the system refuses to read the record. */
  summarise(options: { by: UsageGrouping; since?: number; signal: AbortSignal }): Promise<UsageSummary>;
}

/** What is remembered beyond a conversation: facts, what happened, and how both come out of what was said. */

import type { InboundId } from "./messages.ts";
import type { SessionKeyed } from "./session.ts";

/** A text of `MEMORY.md` that another took the place of. */
export interface MemoryVersion {
  /** Sorts by time. */
  readonly id: string;
  /** When it was replaced: ISO 8601, UTC. */
  readonly replacedAt: string;
  readonly bytes: number;
}

/** An entry of `HISTORY.md`, or of the `history.jsonl` of the newer original. */
export interface HistoryEntry {
  /** `YYYY-MM-DD HH:MM`, in the agent's time zone; absent where an entry does not say. */
  readonly at: string | undefined;
  readonly text: string;
}

/** The files below `memory/`. Reading is bounded and never changes one. */
export interface MemoryStore {
  /** The agent's, in which people are told when something was. */
  readonly timeZone: string;
  /** The text of `MEMORY.md`, "" where there is none. Rejects when it is there and cannot be read. */
  facts(): Promise<string>;
  /**
   * Puts `text` in the place of `MEMORY.md`, atomically, and keeps what was there as a version. Resolves to `false`, and
   * changes nothing, when the file is not `seen` any more.
   */
  replaceFacts(text: string, options: { readonly seen: string }): Promise<boolean>;
  /**
   * Keeps what `MEMORY.md` says now as a version, for whoever is about to replace it with `next`, or to remove it. Nothing
   * is kept of what `next` says too, or the newest version. Rejects, also with a `UserError`, when what is there cannot be kept.
   */
  keepVersion(next?: Uint8Array): Promise<void>;
  /** On disk when it resolves. A text that is too long is cut, and says so. `at` in milliseconds since the epoch. */
  appendHistory(text: string, options: { readonly at: number }): Promise<void>;
  /** The newest `limit` entries, oldest first. */
  history(options: { readonly limit: number }): Promise<readonly HistoryEntry[]>;
  /** Newest first. */
  versions(): Promise<readonly MemoryVersion[]>;
  version(id: string): Promise<string | undefined>;
}

/** A place that was found. */
export interface MemoryHit {
  /** For people and the model: `memory/MEMORY.md`, `memory/HISTORY.md`, or a session's key. */
  readonly source: string;
  /** ISO 8601, UTC, where it is known. */
  readonly at: string | undefined;
  /** Who said it, in sessions. */
  readonly role: "user" | "assistant" | undefined;
  /** The passage around what was found, one line. */
  readonly excerpt: string;
}

export interface MemorySearch {
  /** The best first. Rejects with the signal's reason, and with a `UserError` for a query without a word in it. */
  search(
    query: string,
    options: {
      readonly limit: number;
      readonly signal: AbortSignal;
      /** What was said in this turn is passed over: it would find the question itself. */
      readonly turn?: InboundId;
    },
  ): Promise<readonly MemoryHit[]>;
}

/** Makes memory of what was said, in the background. None of the calls throws, and nobody has to wait for any. */
export interface Consolidation {
  /** A turn of this session is over. `tokens` are what its conversation takes of a prompt, of `budget` that it may. */
  turnEnded(session: SessionKeyed & { readonly tokens: number; readonly budget: number }): void;
  /** The session began anew; what was said is in this file now. */
  archived(session: SessionKeyed & { readonly path: string }): void;
  /** Looks for what earlier processes left and for sessions that are silent, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when nothing is left to do that was asked for, or `signal` aborts. */
  settled(signal: AbortSignal): Promise<void>;
}

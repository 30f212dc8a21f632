/** A conversation on disk: an append-only list of lines, read from its end. */

import type { JsonObject, JsonValue } from "./json.ts";
import type { InboundId, Media } from "./messages.ts";

/** A call as the session file stores it: the shape of the chat-completions protocol. */
export interface StoredToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
  /** `ToolCall.extra`. */
  readonly extra_content?: JsonObject;
}

/**
 * One line of a session file. Keys are the original's (snake_case), and unknown ones are ignored.
 * `turn` is the inbound id of the turn that wrote it, `inbound` the id of the user's message itself:
 * another one for a message that joined the turn while it ran.
 * `runtime` is the context block that was put in front of the user's text; it is replayed word for
 * word, so that a provider's cache of the prefix holds, and views leave it out.
 */
export interface StoredMessage {
  readonly role: "user" | "assistant" | "tool";
  readonly content: string;
  /** ISO 8601. With `Z` where we wrote it; the original's naive times are local. */
  readonly timestamp?: string;
  readonly tool_calls?: readonly StoredToolCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly reasoning_content?: string;
  readonly thinking_blocks?: readonly JsonValue[];
  /** `AssistantMessage.model`. */
  readonly model?: string;
  readonly media?: readonly (string | Media)[];
  readonly turn?: InboundId;
  readonly inbound?: InboundId;
  readonly runtime?: string;
  /** The chat that the call of this result sent a message to. */
  readonly sent_to?: { readonly channel: string; readonly chat_id: string; readonly thread?: string };
}

/** What names a session. */
export interface SessionKeyed {
  readonly key: string;
}

/** Whole turns of a session that are not in memory yet: the oldest of them. Made by `SessionStore.unconsolidated`. */
export interface Unconsolidated {
  /** The session's, also of one that is in the archive. */
  readonly key: string;
  readonly path: string;
  readonly isArchived: boolean;
  /** Tells the file from another that has taken its place since. */
  readonly inode: number;
  /**
   * What was said, as stored, without what was only thought and with results of tools cut short. In a turn that is longer
   * by itself than was asked for, more is cut.
   */
  readonly messages: readonly StoredMessage[];
  /** Where in the file they begin, with what was passed over, and end, in bytes. */
  readonly from: number;
  readonly to: number;
  /** More whole turns come after them. */
  readonly hasMore: boolean;
  readonly passed?: PassedOver;
}

/** Older turns than anybody wants to put into memory. They stay in the session's file. */
export interface PassedOver {
  readonly messages: number;
  /** Timestamps of the first and of the last one, as stored. */
  readonly since?: string;
  readonly until?: string;
}

/** A file of a session, for whoever searches it. */
export interface SessionFile {
  readonly key: string;
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly isArchived: boolean;
}

/** A session that this process holds the lock of. Used by one turn at a time. */
export interface Session {
  readonly key: string;
  readonly metadata: JsonObject;
  /** The newest part of the conversation, as stored and in order, up to the budget it was opened with. */
  readonly messages: readonly StoredMessage[];
  /**
   * The newest part that fits `tokens`, repaired for a provider: it starts at a user line, and every call is
   * followed by exactly one result. When it grew too long, old results of tools are left out first, then old
   * turns, more than needed at once, so that prefixes stay cached; that is remembered in the session.
   */
  window(tokens: number): readonly StoredMessage[];
  /** What the conversation takes of a prompt now, in tokens by our estimate. */
  readonly tokens: number;
  /** What was said before `messages`, summed up and short; "" where there is no summary. The original's `_last_summary`. */
  readonly summary: string;
  /**
   * Leaves out all but the newest turns of about so many messages, and with 0 those too. What is left out is as far
   * from memory as it was.
   */
  keepRecent(messages: number): Promise<void>;
  /** The calls after the last user line that have no result: what a turn that was cut off left behind. */
  openCalls(): readonly StoredToolCall[];
  /** Whether a user line with this inbound id is among `messages`. */
  has(id: InboundId): boolean;
  /**
   * Adds lines. Resolves when they are written; with `sync`, when they are on disk. Rejects when that
   * failed: then nobody knows what of them is on disk, and the next `open` looks.
   */
  append(messages: readonly StoredMessage[], options: { sync: boolean }): Promise<void>;
  /** Puts `metadata` in the place of what there was; on disk when it resolves. */
  setMetadata(metadata: JsonObject): Promise<void>;
  /**
   * Moves the file to the archive; the session goes on empty, with `metadata`. Resolves to the archive's
   * path, or to `undefined` when nothing was said in it: then it stays as it is.
   */
  archive(metadata?: JsonObject): Promise<string | undefined>;
  /** Releases the lock. */
  close(): Promise<void>;
}

export interface SessionSummary {
  readonly key: string;
  readonly path: string;
  readonly updatedAt: string;
  readonly bytes: number;
  /** The beginning of the first thing the user said in the part that was read. */
  readonly preview: string;
}

/**
 * All sessions of a workspace. One process writes a session at a time: `open` waits for its lock.
 * Reading never changes a file, and a damaged line costs that line only.
 */
export interface SessionStore {
  /** Waits for the session's lock. Rejects with the signal's reason when aborted. */
  open(key: string, options: { signal: AbortSignal }): Promise<Session>;
  /** The path of its file, whether or not there is one yet. */
  path(key: string): Promise<string>;
  exists(key: string): Promise<boolean>;
  /** Every stored line, oldest first, damaged ones left out, without the lock. */
  read(key: string, signal: AbortSignal): AsyncIterable<StoredMessage>;
  /** Newest first. */
  list(): Promise<readonly SessionSummary[]>;
  /** In no order, and cheaper than `list`. */
  keys(): Promise<readonly string[]>;
  /** Those in use and those in the archive, in no order. */
  files(): Promise<readonly SessionFile[]>;
  /**
   * The oldest whole turns that are not in memory yet: at most `maxTokens` of them, and one in any case; none of the
   * newest that fit `keepTokens` together, nor the very newest unless that is 0. A turn is whole when it ended with an
   * answer or another began after it, or when its file is in the archive. Turns that are older than the newest
   * `mostTokens` of what was said are passed over. `place` is a session, or a file of the archive. Without the lock.
   * `undefined` when there are none, as in a session of the original that is not copied yet.
   */
  unconsolidated(
    place: SessionKeyed | { readonly archive: string },
    options: {
      readonly maxTokens: number;
      readonly keepTokens: number;
      readonly mostTokens?: number;
      readonly signal: AbortSignal;
    },
  ): Promise<Unconsolidated | undefined>;
  /**
   * They are in memory now, so that the prompt begins after them; the newest turns of about `keepMessages` messages are
   * shown still, and with 0 none. Waits for the session's lock. `summary` becomes `Session.summary`. When the session
   * began anew meanwhile, that is noted in its file in the archive instead. Resolves to `false`, and changes nothing,
   * when somebody else was there first or the file is gone.
   */
  consolidated(
    turns: Unconsolidated,
    options: { readonly keepMessages: number; readonly summary?: string; readonly signal: AbortSignal },
  ): Promise<boolean>;
}

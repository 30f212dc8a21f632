/** One open session: what its file holds, and the only way to add to it. */

import { Buffer } from "node:buffer";
import type { JsonObject } from "../core/json.ts";
import type { AppendFile, Clock, FileSystem, Lock, Log } from "../core/platform.ts";
import type { Session, SessionStore, StoredMessage, Unconsolidated } from "../core/session.ts";
import { never } from "../lib/abort.ts";
import { explained } from "../lib/file-error.ts";
import { dirname } from "../lib/path.ts";
import { archivePath } from "./archive.ts";
import { formatMessage, formatMetadata, type SessionMetadata } from "./lines.ts";
import { FILE_MODE, FOLDER_MODE } from "./modes.ts";
import { applyShown, dropPassed, emptyState, extend, isEmpty, type SessionState, tokensOf } from "./state.ts";
import { summaryOf, withSummary } from "./summary.ts";
import { markOf, messagesBetween } from "./unconsolidated.ts";
import { recentStart, windowOf } from "./window.ts";

/** A metadata line at least this often, so that the newest is found near the end. */
const METADATA_EVERY = 64 * 1024;

/** What the store can do with a session beside what everybody can. */
export interface OwnSession extends Session {
  /** See `SessionStore.consolidated`. `false` too when the file is not the one that the turns were read from. */
  consolidated(
    turns: Unconsolidated,
    options: Omit<Parameters<SessionStore["consolidated"]>[1], "signal">,
  ): Promise<boolean>;
}

export interface SessionOptions {
  /** Absolute and real. */
  readonly workspace: string;
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly log: Log;
  readonly key: string;
  /** Released when the session is closed. */
  readonly lock: Lock;
  readonly state: SessionState;
  /** Takes the state back, as far as it is known to be what the file holds. */
  readonly keep: (key: string, state: SessionState | undefined) => void;
  readonly onArchived?: (key: string) => void;
}

export function createSession({
  workspace,
  files,
  clock,
  log,
  key,
  lock,
  state: opened,
  keep,
  onArchived,
}: SessionOptions): OwnSession {
  let state = opened;
  let file: AppendFile | undefined;
  let isClosed = false;
  /** Something failed, and what the file holds now is not known for certain. */
  let isDoubtful = false;

  const nowText = () => new Date(clock.now()).toISOString();

  async function appendFile(): Promise<AppendFile> {
    if (file === undefined) {
      if (state.bytes === 0) await files.makeFolder(dirname(state.path), { mode: FOLDER_MODE });
      file = await files.openAppend(state.path, { mode: FILE_MODE });
    }
    return file;
  }

  async function closeFile(): Promise<void> {
    const open = file;
    file = undefined;
    await open?.close();
  }

  /** The bytes that must come before a new message: the end of a torn line, and metadata when it is due. */
  function preamble(): string {
    const torn = state.endsInNewline ? "" : "\n";
    const isDue = state.isMetadataDue || state.bytes - state.metadataAt >= METADATA_EVERY;
    if (state.bytes > 0 && !isDue) return torn;
    // The first line says nothing of an offset, as in the original's files.
    const { offset = 0, ...rest } = state.metadata;
    return torn + formatMetadata({ ...rest, offset: state.bytes === 0 ? undefined : offset }, nowText());
  }

  /** After a failure the file is opened anew for the next write, which begins on a fresh line. */
  async function recover(): Promise<void> {
    isDoubtful = true;
    state.endsInNewline = false;
    try {
      await closeFile();
      state.bytes = (await files.stat(state.path))?.bytes ?? 0;
    } catch (error) {
      log.warn("Could not look at a session after a failed write", { path: state.path, error });
    }
  }

  async function recovering(work: () => Promise<void>): Promise<void> {
    try {
      await explained("write the session file", state.path, work);
    } catch (error) {
      await recover();
      throw error;
    }
  }

  async function write(messages: readonly StoredMessage[]): Promise<void> {
    const isNew = state.bytes === 0;
    const before = preamble();
    const lines = messages.map(formatMessage);
    await (await appendFile()).append(Buffer.from(before + lines.join("")));
    if (before.length > 1) {
      state.metadataAt = state.bytes + (state.endsInNewline ? 0 : 1);
      state.isMetadataDue = false;
    }
    state.bytes += Buffer.byteLength(before);
    state.endsInNewline = true;
    extend(state, messages, lines);
    if (isNew) state.inode = (await files.stat(state.path))?.inode ?? 0;
  }

  function requireOpen(): void {
    if (isClosed) throw new Error(`Session "${key}" is closed`);
  }

  async function writeMetadata(changed: Partial<SessionMetadata>): Promise<void> {
    state.metadata = { ...state.metadata, ...changed };
    state.isMetadataDue = true;
    await recovering(async () => {
      await write([]);
      await file?.sync();
    });
  }

  /** The replay begins at `offset` from now on, unless it begins later already. */
  async function replayFrom(offset: number, changed: Partial<SessionMetadata>): Promise<void> {
    const { offset: before = 0, lastConsolidated: passed } = state.metadata;
    const next = Math.max(before, offset);
    const more =
      next === before ? 0 : await messagesBetween({ files, path: state.path, signal: never }, before, next);
    await writeMetadata({ ...changed, offset: next, lastConsolidated: passed + more });
    dropPassed(state);
  }

  /** An empty session is a file too: without one, a session of the original would be found again. */
  async function beginAnew(metadata: JsonObject): Promise<void> {
    state = emptyState(state.path, key);
    state.metadata = { ...state.metadata, metadata };
    await write([]);
    await file?.sync();
  }

  return {
    key,
    get metadata() {
      return state.metadata.metadata;
    },
    get messages() {
      return state.entries.map((entry) => entry.message);
    },
    openCalls() {
      const start = state.entries.findLastIndex(({ message }) => message.role === "user");
      const since = state.entries.slice(start + 1).map(({ message }) => message);
      const answered = new Set(since.map((line) => line.tool_call_id));
      return since.flatMap((line) => line.tool_calls ?? []).filter((call) => !answered.has(call.id));
    },
    window: (tokens) => windowOf(state, tokens),
    has: (id) => state.inbound.has(id),

    get tokens() {
      applyShown(state);
      return tokensOf(state);
    },
    get summary() {
      return summaryOf(state.metadata.metadata);
    },

    async keepRecent(messages) {
      requireOpen();
      if (state.entries.length === 0) return;
      const start = messages > 0 ? recentStart(state, messages) : state.bytes;
      if (start <= (state.entries[0]?.at ?? 0)) return;
      await replayFrom(start, { summed: markOf(state.metadata) });
    },

    async consolidated(turns, { keepMessages, summary }) {
      requireOpen();
      if (state.inode !== turns.inode || markOf(state.metadata) !== turns.from) return false;
      const kept = keepMessages > 0 ? recentStart(state, keepMessages) : turns.to;
      const { metadata } = state.metadata;
      await replayFrom(Math.min(turns.to, kept), {
        summed: turns.to,
        metadata: summary === undefined ? metadata : withSummary(metadata, summary, turns),
      });
      return true;
    },

    async append(messages, { sync }) {
      requireOpen();
      await recovering(async () => {
        if (messages.length > 0) await write(messages);
        if (sync) await file?.sync();
      });
    },

    async setMetadata(metadata) {
      requireOpen();
      await writeMetadata({ metadata });
    },

    async archive(metadata = {}) {
      if (isEmpty(state)) return undefined;
      await closeFile();
      const { path } = state;
      const target = archivePath(workspace, key, clock.now());
      await files.makeFolder(dirname(target), { mode: FOLDER_MODE });
      await files.rename(path, target);
      onArchived?.(key);
      await recovering(() => beginAnew(metadata));
      return target;
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      keep(key, isDoubtful ? undefined : state);
      try {
        await closeFile();
      } finally {
        await lock.release();
      }
    },
  };
}

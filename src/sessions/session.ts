/** One open session: what its file holds, and the only way to add to it. */

import { Buffer } from "node:buffer";
import type { JsonObject } from "../core/json.ts";
import type { AppendFile, Clock, FileSystem, Lock, Log } from "../core/platform.ts";
import type { Session, StoredMessage } from "../core/session.ts";
import { explained } from "../lib/file-error.ts";
import { dirname, join } from "../lib/path.ts";
import { encodeSessionKey } from "../lib/session-key.ts";
import { formatMessage, formatMetadata } from "./lines.ts";
import { emptyState, extend, isEmpty, type SessionState } from "./state.ts";
import { windowOf } from "./window.ts";

export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

/** A metadata line at least this often, so that the newest is found near the end. */
const METADATA_EVERY = 64 * 1024;

export interface SessionOptions {
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
  files,
  clock,
  log,
  key,
  lock,
  state: opened,
  keep,
  onArchived,
}: SessionOptions): Session {
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

    async append(messages, { sync }) {
      if (isClosed) throw new Error(`Session "${key}" is closed`);
      await recovering(async () => {
        if (messages.length > 0) await write(messages);
        if (sync) await file?.sync();
      });
    },

    async setMetadata(metadata) {
      if (isClosed) throw new Error(`Session "${key}" is closed`);
      state.metadata = { ...state.metadata, metadata };
      state.isMetadataDue = true;
      await recovering(async () => {
        await write([]);
        await file?.sync();
      });
    },

    async archive(metadata = {}) {
      if (isEmpty(state)) return undefined;
      await closeFile();
      const { path } = state;
      const stamp = nowText().replace(/[-:.]/g, "").toLowerCase();
      const target = join(dirname(path), "archive", `${encodeSessionKey(key)}-${stamp}.jsonl`);
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

/** The sessions of a workspace: one append-only file each, written by whoever holds its lock. */

import { Buffer } from "node:buffer";
import type { AppendFile, Clock, FileSystem, Lock, Locks, Log } from "../core/platform.ts";
import type { Session, SessionStore, SessionSummary, StoredMessage } from "../core/session.ts";
import { dirname, join } from "../lib/path.ts";
import { encodeSessionKey } from "../lib/session-key.ts";
import { oneLine } from "../lib/text.ts";
import { adopt, type LegacyPlaces, listSessionFiles } from "./legacy.ts";
import { formatMessage, formatMetadata, parseSessionLine } from "./lines.ts";
import { catchUp, emptyState, extend, loadState, type SessionState, trim } from "./state.ts";
import { linesFromStart } from "./tail.ts";
import { windowOf } from "./window.ts";

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** A metadata line at least this often, so that the newest is found near the end. */
const METADATA_EVERY = 64 * 1024;

/** Sessions kept in memory between turns, and the bytes of them. */
const KEPT_SESSIONS = 256;
const KEPT_BYTES = 16 * 1024 * 1024;

const PREVIEW = 80;

export interface SessionStoreOptions {
  readonly files: FileSystem;
  readonly locks: Locks;
  readonly clock: Clock;
  readonly log: Log;
  /** Absolute and real. */
  readonly workspace: string;
  /** Where the original may have left sessions. */
  readonly legacy: LegacyPlaces;
  /** The largest window anybody will ask for, in tokens. */
  readonly tokens: number;
}

export function createSessionStore(options: SessionStoreOptions): SessionStore {
  const { files, locks, log, workspace, legacy, tokens } = options;
  const folder = join(workspace, "sessions");
  // In the order of last use.
  const kept = new Map<string, SessionState>();

  const pathOf = (key: string) => join(folder, `${encodeSessionKey(key)}.jsonl`);

  function keep(key: string, state: SessionState): void {
    trim(state, 2 * tokens);
    kept.delete(key);
    kept.set(key, state);
    const sizeOf = ({ entries, bytes }: SessionState) => bytes - (entries[0]?.at ?? bytes);
    let bytes = [...kept.values()].reduce((sum, item) => sum + sizeOf(item), 0);
    for (const [oldest, item] of kept) {
      if (kept.size <= KEPT_SESSIONS && bytes <= KEPT_BYTES) break;
      kept.delete(oldest);
      bytes -= sizeOf(item);
    }
  }

  /** The state of the file as it is now, read again as far as it changed. */
  async function current(key: string, signal: AbortSignal): Promise<SessionState> {
    const path = pathOf(key);
    const load = { files, log, tokens, signal };
    const known = kept.get(key);
    const stat = await files.stat(path);
    if (stat === undefined) {
      const adopted = await adopt({ files, log, key, path, places: legacy, workspace, signal });
      return adopted ? loadState(path, key, load) : emptyState(path, key);
    }
    if (known === undefined || known.inode !== stat.inode || known.bytes > stat.bytes) {
      return loadState(path, key, load);
    }
    if (known.bytes < stat.bytes) await catchUp(known, stat.bytes, load);
    return known;
  }

  async function open(key: string, { signal }: { signal: AbortSignal }): Promise<Session> {
    const lock = await locks.acquire(`session:${workspace}:${key}`, signal);
    try {
      return createSession({ ...options, key, lock, state: await current(key, signal), keep });
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  async function* read(key: string): AsyncGenerator<StoredMessage> {
    const found = (await listSessionFiles(files, workspace, legacy)).find((file) => file.key === key);
    if (found === undefined) return;
    const { signal } = new AbortController();
    for await (const { bytes } of linesFromStart(files.stream(found.path, { signal }))) {
      const line = parseSessionLine(bytes);
      if (line.kind === "damaged") log.warn("Left a damaged line of a session out", { path: found.path });
      if (line.kind === "message") yield line.message;
    }
  }

  async function preview(path: string): Promise<string> {
    const { signal } = new AbortController();
    let lines = 0;
    for await (const { bytes } of linesFromStart(files.stream(path, { signal }))) {
      const line = parseSessionLine(bytes);
      if (line.kind === "message" && line.message.role === "user")
        return oneLine(line.message.content, PREVIEW);
      if (++lines > 200) break;
    }
    return "";
  }

  async function list(): Promise<readonly SessionSummary[]> {
    const found = await listSessionFiles(files, workspace, legacy);
    const newestFirst = [...found].sort((a, b) => b.modifiedMs - a.modifiedMs);
    return Promise.all(
      newestFirst.map(async ({ key, path, bytes, modifiedMs }) => ({
        key,
        path,
        bytes,
        updatedAt: new Date(modifiedMs).toISOString(),
        preview: await preview(path),
      })),
    );
  }

  return {
    open,
    read,
    list,
    async path(key) {
      return pathOf(key);
    },
    async exists(key) {
      return (await listSessionFiles(files, workspace, legacy)).some((file) => file.key === key);
    },
  };
}

interface SessionOptions {
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly log: Log;
  readonly key: string;
  readonly lock: Lock;
  readonly state: SessionState;
  readonly keep: (key: string, state: SessionState) => void;
}

function createSession({ files, clock, key, lock, state: opened, keep }: SessionOptions): Session {
  let state = opened;
  let file: AppendFile | undefined;
  let closed = false;

  const nowText = () => new Date(clock.now()).toISOString();

  async function appendFile(): Promise<AppendFile> {
    if (file === undefined) {
      if (state.bytes === 0) await files.makeFolder(dirname(state.path), { mode: FOLDER_MODE });
      file = await files.openAppend(state.path, { mode: FILE_MODE });
    }
    return file;
  }

  /** The bytes that must come before a new message: the end of a torn line, and metadata when it is due. */
  function preamble(): string {
    const torn = state.closed ? "" : "\n";
    const due = state.bytes === 0 || state.bytes - state.metadataAt >= METADATA_EVERY;
    if (!due) return torn;
    // The first line says nothing of an offset, as in the original's files.
    const { offset = 0, ...rest } = state.metadata;
    return torn + formatMetadata({ ...rest, offset: state.bytes === 0 ? undefined : offset }, nowText());
  }

  /** Writes at the end. After a failure the next write opens the file anew and looks where it ends. */
  async function write(text: string): Promise<void> {
    const target = await appendFile();
    try {
      await target.append(Buffer.from(text));
    } catch (error) {
      await closeFile();
      const stat = await files.stat(state.path);
      if (stat !== undefined && stat.bytes !== state.bytes) {
        state.bytes = stat.bytes;
        state.closed = false;
      }
      throw error;
    }
  }

  async function append(messages: readonly StoredMessage[], { sync }: { sync: boolean }): Promise<void> {
    if (closed) throw new Error(`Session "${key}" is closed`);
    if (messages.length > 0) {
      const isNew = state.bytes === 0;
      const before = preamble();
      const lines = messages.map(formatMessage);
      await write(before + lines.join(""));
      if (before.length > 1) state.metadataAt = state.bytes + (state.closed ? 0 : 1);
      state.bytes += Buffer.byteLength(before);
      state.closed = true;
      extend(state, messages, lines);
      if (isNew) state.inode = (await files.stat(state.path))?.inode ?? 0;
    }
    if (sync) await file?.sync();
  }

  async function closeFile(): Promise<void> {
    const open = file;
    file = undefined;
    await open?.close();
  }

  return {
    key,
    append,
    get metadata() {
      return state.metadata.metadata;
    },
    get messages() {
      return state.entries.map((entry) => entry.message);
    },
    window: (tokens) => windowOf(state, tokens),
    has: (id) => state.inbound.has(id),

    async archive() {
      await closeFile();
      const { path } = state;
      if (state.bytes === 0) return undefined;
      const stamp = nowText().replace(/[-:.]/g, "").toLowerCase();
      const target = join(dirname(path), "archive", `${encodeSessionKey(key)}-${stamp}.jsonl`);
      await files.makeFolder(dirname(target), { mode: FOLDER_MODE });
      await files.rename(path, target);
      state = emptyState(path, key);
      // An empty session is a file too: without one, a session of the original would be found again.
      await write(formatMetadata(state.metadata, nowText()));
      await file?.sync();
      const stat = await files.stat(path);
      state.bytes = stat?.bytes ?? 0;
      state.inode = stat?.inode ?? 0;
      return target;
    },

    async close() {
      if (closed) return;
      closed = true;
      keep(key, state);
      try {
        await closeFile();
      } finally {
        await lock.release();
      }
    },
  };
}

/** The sessions of a workspace: one append-only file each, written by whoever holds its lock. */

import { UserError } from "../core/errors.ts";
import type { Clock, FileSystem, Locks, Log } from "../core/platform.ts";
import type { SessionFile, SessionStore, SessionSummary, StoredMessage } from "../core/session.ts";
import { never } from "../lib/abort.ts";
import { explained, quote } from "../lib/file-error.ts";
import { join } from "../lib/path.ts";
import { linesFromStart } from "../lib/placed-lines.ts";
import { encodeSessionKey } from "../lib/session-key.ts";
import { oneLine } from "../lib/text.ts";
import { archivedKey, archiveOf, listArchive, markArchived } from "./archive.ts";
import { adopt, findLegacy, type LegacyPlaces, listSessionFiles } from "./legacy.ts";
import { parseSessionLine } from "./lines.ts";
import { catchUp, loadState } from "./load.ts";
import { createSession, type OwnSession } from "./session.ts";
import { emptyState, MOST_WINDOWS, type SessionState, showsMore, trim } from "./state.ts";
import { findUnconsolidated } from "./unconsolidated.ts";

/**
 * Sessions kept in memory between turns, and the bytes of them. Few: each costs many times its bytes, and reading one
 * again takes less than a millisecond.
 */
const KEPT_SESSIONS = 16;
const KEPT_BYTES = 8 * 1024 * 1024;

const PREVIEW = 80;
/** Lines that are looked through for a preview, and sessions that are looked at together. */
const PREVIEW_LINES = 200;
const PREVIEWED_TOGETHER = 16;

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
  /** Told of each session that begins anew. */
  readonly onArchived?: (key: string) => void;
  /** Takes secrets out of previews, before they are cut. */
  readonly mask?: (text: string) => string;
}

export function createSessionStore(options: SessionStoreOptions): SessionStore {
  const { files, locks, log, workspace, legacy, tokens, mask = (text) => text } = options;
  const folder = join(workspace, "sessions");
  const places = { files, workspace, places: legacy };
  // In the order of last use.
  const kept = new Map<string, SessionState>();

  const pathOf = (key: string) => join(folder, `${encodeSessionKey(key)}.jsonl`);

  function keep(key: string, state: SessionState | undefined): void {
    kept.delete(key);
    if (state === undefined) return;
    trim(state, MOST_WINDOWS * tokens);
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
  async function loadCurrent(key: string, signal: AbortSignal): Promise<SessionState> {
    const path = pathOf(key);
    const load = { files, log, tokens, signal };
    const known = kept.get(key);
    const stat = await files.linkStat(path);
    if (stat === undefined) {
      const adopted = await adopt({ ...places, log, key, path, signal });
      return adopted ? loadState(path, key, load) : emptyState(path, key);
    }
    if (stat.kind !== "file") {
      throw new UserError(`Cannot open the session "${oneLine(key, 80)}": ${quote(path)} is no regular file`);
    }
    if (known === undefined || known.inode !== stat.inode || known.bytes > stat.bytes) {
      return loadState(path, key, load);
    }
    if (known.bytes < stat.bytes) {
      await catchUp(known, stat.bytes, load);
      if (showsMore(known)) return loadState(path, key, load);
    }
    return known;
  }

  async function open(key: string, { signal }: { signal: AbortSignal }): Promise<OwnSession> {
    const lock = await locks.acquire(`session:${workspace}:${key}`, signal);
    try {
      const state = await explained("open the session file", pathOf(key), () => loadCurrent(key, signal));
      return createSession({ ...options, key, lock, state, keep });
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** The file of a session, copied or not yet; `undefined` when there is none. */
  async function find(key: string): Promise<string | undefined> {
    const own = pathOf(key);
    return (await files.linkStat(own))?.kind === "file" ? own : findLegacy({ ...places, key, path: own });
  }

  async function* read(key: string, signal: AbortSignal): AsyncGenerator<StoredMessage> {
    const path = await find(key);
    if (path === undefined) return;
    let damaged = 0;
    for await (const { bytes } of linesFromStart(files.stream(path, { signal }))) {
      const line = parseSessionLine(bytes);
      if (line.kind === "damaged") damaged++;
      if (line.kind === "message") yield line.message;
    }
    if (damaged > 0) log.warn("Left damaged lines of a session out", { path, lines: damaged });
  }

  async function preview(path: string): Promise<string> {
    let lines = 0;
    for await (const { bytes } of linesFromStart(files.stream(path, { signal: never }))) {
      const line = parseSessionLine(bytes);
      if (line.kind === "message" && line.message.role === "user")
        return oneLine(mask(line.message.content), PREVIEW);
      if (++lines > PREVIEW_LINES) break;
    }
    return "";
  }

  async function summarise({ key, path, bytes, modifiedMs }: SessionFile): Promise<SessionSummary> {
    const updatedAt = new Date(modifiedMs).toISOString();
    return { key, path, bytes, updatedAt, preview: await preview(path) };
  }

  async function list(): Promise<readonly SessionSummary[]> {
    const found = [...(await listSessionFiles(places))].sort((a, b) => b.modifiedMs - a.modifiedMs);
    const summaries: SessionSummary[] = [];
    for (let next = 0; next < found.length; next += PREVIEWED_TOGETHER) {
      summaries.push(...(await Promise.all(found.slice(next, next + PREVIEWED_TOGETHER).map(summarise))));
    }
    return summaries;
  }

  const unconsolidated: SessionStore["unconsolidated"] = async (place, wanted) => {
    const isArchived = "archive" in place;
    const path = isArchived ? place.archive : pathOf(place.key);
    const key = isArchived ? await archivedKey(files, path) : place.key;
    return key === undefined ? undefined : findUnconsolidated({ ...wanted, files, key, path, isArchived });
  };

  const consolidated: SessionStore["consolidated"] = async (turns, { signal, ...given }) => {
    if (turns.isArchived) return markArchived(options, turns.path, { ...turns, signal });
    const session = await open(turns.key, { signal });
    try {
      if (await session.consolidated(turns, given)) return true;
    } finally {
      await session.close();
    }
    const archive = await archiveOf({ files, workspace }, turns);
    return archive !== undefined && markArchived(options, archive, { ...turns, signal });
  };

  return {
    open,
    read,
    list,
    path: async (key) => pathOf(key),
    exists: async (key) => (await find(key)) !== undefined,
    unconsolidated,
    consolidated,
    files: async () => [...(await listSessionFiles(places)), ...(await listArchive({ files, workspace }))],
    keys: async () => (await listSessionFiles(places)).map(({ key }) => key),
  };
}

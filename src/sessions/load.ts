/** Brings what is known of a session file in line with what it holds, reading no more of it than that takes. */

import type { FileSystem, Log } from "../core/platform.ts";
import { linesFromEnd, linesFromStart } from "../lib/placed-lines.ts";
import { beginsTurn } from "../lib/transcript.ts";
import { isCounted, parseSessionLine, type SessionLine, type SessionMetadata } from "./lines.ts";
import {
  addEntry,
  applyShown,
  asShown,
  dropPassed,
  type Entry,
  emptyState,
  entryOf,
  MOST_WINDOWS,
  type SessionState,
  setEntries,
  trim,
} from "./state.ts";

/** Tells of damage once, and leaves word of that in the metadata line that comes next. */
function reportDamage(state: SessionState, log: Log, damagedAt: readonly number[]): void {
  const { reported = 0 } = state.metadata;
  const lines = damagedAt.filter((at) => at >= reported).length;
  if (lines === 0) return;
  log.warn("Left damaged lines of a session out", { path: state.path, lines });
  state.metadata = { ...state.metadata, reported: state.bytes };
  state.isMetadataDue = true;
}

/** Files of the original count messages, ours bytes. More messages than there are mean nothing. */
export async function offsetOf(
  files: FileSystem,
  path: string,
  messages: number,
  signal: AbortSignal,
): Promise<number> {
  let left = messages;
  let end = 0;
  for await (const { at, bytes } of linesFromStart(files.stream(path, { signal }))) {
    const line = parseSessionLine(bytes);
    if (!isCounted(line)) continue;
    if (left === 0) return at;
    left--;
    end = at + bytes.length + 1;
  }
  return left === 0 ? end : 0;
}

interface LoadOptions {
  readonly files: FileSystem;
  readonly log: Log;
  /** Reading stops at a user line when this much has been read. */
  readonly tokens: number;
  readonly signal: AbortSignal;
}

/** Reads a file from its end: up to the first unconsolidated message, or the budget. */
export async function loadState(path: string, key: string, options: LoadOptions): Promise<SessionState> {
  const { files, log, tokens, signal } = options;
  const stat = await files.stat(path);
  const state = emptyState(path, key);
  if (stat === undefined || stat.bytes === 0) return state;
  state.inode = stat.inode;
  state.bytes = stat.bytes;
  state.endsInNewline = (await files.read(path, { start: stat.bytes - 1, end: stat.bytes }))[0] === 0x0a;
  const newestFirst: Entry[] = [];
  let found = 0;
  let hasTurn = false;
  let isEnough = false;
  const damagedAt: number[] = [];
  let metadata: SessionMetadata | undefined;
  for await (const { at, bytes } of linesFromEnd(files, path, stat.bytes)) {
    signal.throwIfAborted();
    const line = parseSessionLine(bytes);
    if (line.kind === "damaged") damagedAt.push(at);
    if (line.kind === "metadata" && metadata === undefined) {
      metadata = sensible(line.metadata, stat.bytes);
      state.metadataAt = at;
    }
    const shown = metadata?.shown;
    if (line.kind === "message" && !isEnough) {
      const entry = entryOf(line.message, at);
      newestFirst.push(shown === undefined ? entry : asShown(entry, shown));
      found += newestFirst.at(-1)?.tokens ?? 0;
      // What was decided to be shown is read whole, as long as that is sensible.
      const most = metadata !== undefined && shown === undefined ? tokens : MOST_WINDOWS * tokens;
      isEnough = found > most && beginsTurn(line.message);
    }
    // Files of the original have their metadata at the beginning alone: on the way there nothing more is kept.
    if (isEnough && metadata !== undefined) break;
    hasTurn ||= line.kind === "message" && beginsTurn(line.message);
    if (at <= (metadata?.offset ?? 0) || (hasTurn && at <= (shown?.from ?? 0))) break;
  }
  setEntries(state, newestFirst.reverse());
  if (metadata) state.metadata = { ...metadata, key };
  reportDamage(state, log, damagedAt);
  await dropConsolidated(state, options);
  applyShown(state);
  trim(state, MOST_WINDOWS * tokens);
  return state;
}

/** Nothing can be before or behind what the file does not have. */
export function sensible(metadata: SessionMetadata, bytes: number): SessionMetadata {
  const { offset = 0, summed = 0, shown } = metadata;
  const isPast = shown !== undefined && (shown.from > bytes || shown.results > bytes);
  return {
    ...metadata,
    offset: offset > bytes ? undefined : metadata.offset,
    summed: summed > bytes ? undefined : metadata.summed,
    shown: isPast ? undefined : shown,
  };
}

async function dropConsolidated(state: SessionState, { files, signal }: LoadOptions): Promise<void> {
  const { offset, lastConsolidated } = state.metadata;
  if (offset === undefined && lastConsolidated > 0) {
    const counted = await offsetOf(files, state.path, lastConsolidated, signal);
    state.metadata = { ...state.metadata, offset: counted };
  }
  dropPassed(state);
}

/** Takes in what another process appended since. */
export async function catchUp(state: SessionState, bytes: number, options: LoadOptions): Promise<void> {
  const { files, log, signal } = options;
  const damagedAt: number[] = [];
  const appended = linesFromStart(files.stream(state.path, { start: state.bytes, signal }), state.bytes);
  for await (const { at, bytes: line } of appended) {
    const parsed = parseSessionLine(line);
    if (parsed.kind === "damaged") damagedAt.push(at);
    takeIn(state, at, parsed, bytes);
  }
  state.bytes = bytes;
  dropPassed(state);
  reportDamage(state, log, damagedAt);
  state.endsInNewline = (await files.read(state.path, { start: bytes - 1, end: bytes }))[0] === 0x0a;
}

function takeIn(state: SessionState, at: number, line: SessionLine, bytes: number): void {
  if (line.kind === "message") {
    addEntry(state, line.message, at);
  } else if (line.kind === "metadata") {
    state.metadata = { ...sensible(line.metadata, bytes), key: state.metadata.key };
    state.metadataAt = at;
  }
}

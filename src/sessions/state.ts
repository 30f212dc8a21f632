/** What is known of one session file: the newest part of it, kept up with what is appended. */

import { Buffer } from "node:buffer";
import { IMAGES_PER_MESSAGE, IMAGES_PER_REQUEST } from "../core/media.ts";
import type { FileSystem, Log } from "../core/platform.ts";
import type { StoredMessage } from "../core/session.ts";
import { isImage } from "../lib/breadcrumb.ts";
import { isResultWorthLeavingOut, withoutResult } from "../lib/left-out.ts";
import { linesFromEnd, linesFromStart } from "../lib/placed-lines.ts";
import { IMAGE_TOKENS, messageTokens } from "../lib/request-tokens.ts";
import { beginsTurn, toChat } from "../lib/transcript.ts";
import { parseSessionLine, type SessionLine, type SessionMetadata, type Shown } from "./lines.ts";

/** More of these than fit one window are not kept in memory, whatever was decided. */
export const MOST_WINDOWS = 4;

export interface Entry {
  readonly message: StoredMessage;
  /** Bytes from the beginning of the file to this line. */
  readonly at: number;
  /** Without its images. */
  readonly tokens: number;
  /** How many could be sent along. */
  readonly images: number;
}

export interface SessionState {
  readonly path: string;
  inode: number;
  /** Bytes of the file that this state reflects. */
  bytes: number;
  /** The next line can begin where the file ends: its last byte is a newline, or there is none. */
  endsInNewline: boolean;
  metadata: SessionMetadata;
  /** Where the last metadata line begins. */
  metadataAt: number;
  /** The metadata changed and is not written yet. */
  isMetadataDue: boolean;
  /** What is shown, oldest first, and perhaps something before it. */
  entries: Entry[];
  /** What `entries` have been brought in line with. */
  applied: Shown | undefined;
  /** Of all `entries` together. */
  tokens: number;
  images: number;
  /** Inbound ids of the user lines among `entries`. */
  inbound: Set<string>;
}

export function entryOf(message: StoredMessage, at: number): Entry {
  const images = message.role === "assistant" ? 0 : (message.media ?? []).filter(isImage).length;
  return {
    message,
    at,
    tokens: messageTokens(toChat(message)),
    images: Math.min(images, IMAGES_PER_MESSAGE),
  };
}

/** What sending all entries would take. */
export function tokensOf({ tokens, images }: Pick<SessionState, "tokens" | "images">): number {
  return tokens + Math.min(images, IMAGES_PER_REQUEST) * IMAGE_TOKENS;
}

export function emptyState(path: string, key: string): SessionState {
  return {
    path,
    inode: 0,
    bytes: 0,
    endsInNewline: true,
    metadata: {
      key,
      createdAt: undefined,
      metadata: {},
      lastConsolidated: 0,
      offset: undefined,
      shown: undefined,
      reported: undefined,
    },
    metadataAt: 0,
    isMetadataDue: false,
    entries: [],
    applied: undefined,
    tokens: 0,
    images: 0,
    inbound: new Set(),
  };
}

/** Nothing was said in it, be it shown still or not. */
export function isEmpty({ entries, metadata }: SessionState): boolean {
  return entries.length === 0 && (metadata.offset ?? 0) === 0 && metadata.lastConsolidated === 0;
}

function setEntries(state: SessionState, entries: Entry[]): void {
  state.entries = entries;
  state.tokens = entries.reduce((sum, entry) => sum + entry.tokens, 0);
  state.images = entries.reduce((sum, entry) => sum + entry.images, 0);
  state.inbound = new Set(entries.flatMap(({ message }) => message.inbound ?? []));
}

function addEntry(state: SessionState, message: StoredMessage, at: number): void {
  const entry = entryOf(message, at);
  state.entries.push(entry);
  state.tokens += entry.tokens;
  state.images += entry.images;
  if (message.inbound !== undefined) state.inbound.add(message.inbound);
}

/** Lines before `results` as they are shown: without long results of tools. */
function asShown(entry: Entry, { results }: Shown): Entry {
  const { message, at } = entry;
  if (at >= results || message.role !== "tool" || !isResultWorthLeavingOut(message)) return entry;
  return entryOf(withoutResult(message), at);
}

/**
 * Whether another process has decided to show more than this state still holds: it did not know of what was
 * decided here and not written yet.
 */
export function showsMore({ metadata: { shown }, applied }: SessionState): boolean {
  if (applied === undefined) return false;
  return (shown?.from ?? 0) < applied.from || (shown?.results ?? 0) < applied.results;
}

/** Forgets what is not shown any more. */
export function applyShown(state: SessionState): void {
  const { shown } = state.metadata;
  if (shown === undefined || shown === state.applied) return;
  state.applied = shown;
  // Whatever a damaged line says, the last turn is shown.
  const lastTurn = state.entries.findLast(({ message }) => beginsTurn(message));
  const from = Math.min(shown.from, lastTurn?.at ?? 0);
  setEntries(
    state,
    state.entries.filter(({ at }) => at >= from).map((entry) => asShown(entry, shown)),
  );
}

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
async function offsetOf(
  files: FileSystem,
  path: string,
  messages: number,
  signal: AbortSignal,
): Promise<number> {
  let left = messages;
  let end = 0;
  for await (const { at, bytes } of linesFromStart(files.stream(path, { signal }))) {
    const line = parseSessionLine(bytes);
    if (line.kind !== "message" && !(line.kind === "ignored" && line.counts)) continue;
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
    if (line.kind === "message") {
      const entry = entryOf(line.message, at);
      newestFirst.push(shown === undefined ? entry : asShown(entry, shown));
      found += newestFirst.at(-1)?.tokens ?? 0;
      // What was decided to be shown is read whole, as long as that is sensible.
      const most = shown === undefined ? tokens : MOST_WINDOWS * tokens;
      if (found > most && beginsTurn(line.message) && metadata !== undefined) break;
    }
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
function sensible(metadata: SessionMetadata, bytes: number): SessionMetadata {
  const { offset = 0, shown } = metadata;
  const isPast = shown !== undefined && (shown.from > bytes || shown.results > bytes);
  return {
    ...metadata,
    offset: offset > bytes ? undefined : metadata.offset,
    shown: isPast ? undefined : shown,
  };
}

async function dropConsolidated(state: SessionState, { files, signal }: LoadOptions): Promise<void> {
  const { offset, lastConsolidated } = state.metadata;
  if (offset === undefined && lastConsolidated > 0) {
    const counted = await offsetOf(files, state.path, lastConsolidated, signal);
    state.metadata = { ...state.metadata, offset: counted };
  }
  const from = state.metadata.offset ?? 0;
  if (from > 0) {
    setEntries(
      state,
      state.entries.filter((entry) => entry.at >= from),
    );
  }
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

/** Records in `state` what has been written at its end. */
export function extend(
  state: SessionState,
  messages: readonly StoredMessage[],
  lines: readonly string[],
): void {
  lines.forEach((line, index) => {
    addEntry(state, messages[index] as StoredMessage, state.bytes);
    state.bytes += Buffer.byteLength(line);
  });
}

/** Forgets the oldest turns beyond `tokens`, so that a long conversation does not grow in memory. */
export function trim(state: SessionState, tokens: number): void {
  if (state.tokens <= tokens) return;
  let kept = 0;
  const start = state.entries.findLastIndex((entry) => {
    kept += entry.tokens;
    return kept > tokens && beginsTurn(entry.message);
  });
  if (start > 0) setEntries(state, state.entries.slice(start));
}

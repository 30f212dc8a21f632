/** What is known of one session file: the newest part of it, kept up with what is appended. */

import { Buffer } from "node:buffer";
import type { FileSystem, Log } from "../core/platform.ts";
import type { StoredMessage } from "../core/session.ts";
import { isImage } from "../lib/breadcrumb.ts";
import { IMAGE_TOKENS, messageTokens } from "../lib/request-tokens.ts";
import { toChat } from "../lib/transcript.ts";
import { parseSessionLine, type SessionLine, type SessionMetadata } from "./lines.ts";
import { linesFromEnd, linesFromStart } from "./tail.ts";

/** What stands in the place of a result that is left out takes no more. */
const LEFT_OUT_TOKENS = 60;

export interface Entry {
  readonly message: StoredMessage;
  /** Bytes from the beginning of the file to this line. */
  readonly at: number;
  readonly tokens: number;
  /** What of these must be sent: of a tool's result no more than a word that it was left out. */
  readonly leastTokens: number;
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
  /** Oldest first. Not the whole session: see `complete`. */
  entries: Entry[];
  /** Of all `entries` together. */
  tokens: number;
  leastTokens: number;
  /** Inbound ids of the user lines among `entries`. */
  inbound: Set<string>;
  /** `entries` begins at the first unconsolidated message. */
  complete: boolean;
}

/** Of what will be sent: images are only named in it so far, and come along later. */
function lineTokens(line: StoredMessage): number {
  const images = line.role === "user" ? (line.media ?? []).filter(isImage).length : 0;
  return messageTokens(toChat(line)) + images * IMAGE_TOKENS;
}

function entryOf(message: StoredMessage, at: number): Entry {
  const tokens = lineTokens(message);
  const leastTokens = message.role === "tool" ? Math.min(tokens, LEFT_OUT_TOKENS) : tokens;
  return { message, at, tokens, leastTokens };
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
      reported: undefined,
    },
    metadataAt: 0,
    isMetadataDue: false,
    entries: [],
    tokens: 0,
    leastTokens: 0,
    inbound: new Set(),
    complete: true,
  };
}

function setEntries(state: SessionState, entries: Entry[]): void {
  state.entries = entries;
  state.tokens = entries.reduce((sum, entry) => sum + entry.tokens, 0);
  state.leastTokens = entries.reduce((sum, entry) => sum + entry.leastTokens, 0);
  state.inbound = new Set(entries.flatMap(({ message }) => message.inbound ?? []));
}

function addEntry(state: SessionState, message: StoredMessage, at: number): void {
  const entry = entryOf(message, at);
  state.entries.push(entry);
  state.tokens += entry.tokens;
  state.leastTokens += entry.leastTokens;
  if (message.inbound !== undefined) state.inbound.add(message.inbound);
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
  state.complete = false;
  const newestFirst: Entry[] = [];
  let found = 0;
  const damagedAt: number[] = [];
  let metadata: SessionMetadata | undefined;
  for await (const { at, bytes } of linesFromEnd(files, path, stat.bytes)) {
    signal.throwIfAborted();
    const line = parseSessionLine(bytes);
    if (line.kind === "damaged") damagedAt.push(at);
    if (line.kind === "metadata" && metadata === undefined) {
      metadata = line.metadata;
      state.metadataAt = at;
    }
    if (line.kind === "message") {
      const entry = entryOf(line.message, at);
      newestFirst.push(entry);
      found += entry.tokens;
      if (found > tokens && line.message.role === "user" && metadata !== undefined) break;
    }
    if (at === 0 || at <= (metadata?.offset ?? -1)) {
      state.complete = true;
      break;
    }
  }
  setEntries(state, newestFirst.reverse());
  if (metadata) state.metadata = { ...metadata, key };
  reportDamage(state, log, damagedAt);
  await dropConsolidated(state, options);
  trim(state, 2 * tokens);
  return state;
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
    takeIn(state, at, parsed);
  }
  state.bytes = bytes;
  reportDamage(state, log, damagedAt);
  state.endsInNewline = (await files.read(state.path, { start: bytes - 1, end: bytes }))[0] === 0x0a;
}

function takeIn(state: SessionState, at: number, line: SessionLine): void {
  if (line.kind === "message") {
    addEntry(state, line.message, at);
  } else if (line.kind === "metadata") {
    state.metadata = { ...line.metadata, key: state.metadata.key };
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
    return kept > tokens && entry.message.role === "user";
  });
  if (start <= 0) return;
  setEntries(state, state.entries.slice(start));
  state.complete = false;
}

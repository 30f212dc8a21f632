/** What is known of one session file: the newest part of it, kept up with what is appended. */

import { Buffer } from "node:buffer";
import { IMAGES_PER_MESSAGE, IMAGES_PER_REQUEST } from "../core/media.ts";
import type { StoredMessage } from "../core/session.ts";
import { isImage } from "../lib/breadcrumb.ts";
import { isResultWorthLeavingOut, withoutResult } from "../lib/left-out.ts";
import { IMAGE_TOKENS, messageTokens } from "../lib/request-tokens.ts";
import { beginsTurn, toChat } from "../lib/transcript.ts";
import type { SessionMetadata, Shown } from "./lines.ts";

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
      summed: undefined,
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

export function setEntries(state: SessionState, entries: Entry[]): void {
  state.entries = entries;
  state.tokens = entries.reduce((sum, entry) => sum + entry.tokens, 0);
  state.images = entries.reduce((sum, entry) => sum + entry.images, 0);
  state.inbound = new Set(entries.flatMap(({ message }) => message.inbound ?? []));
}

export function addEntry(state: SessionState, message: StoredMessage, at: number): void {
  const entry = entryOf(message, at);
  state.entries.push(entry);
  state.tokens += entry.tokens;
  state.images += entry.images;
  if (message.inbound !== undefined) state.inbound.add(message.inbound);
}

/** Lines before `results` as they are shown: without long results of tools. */
export function asShown(entry: Entry, { results }: Shown): Entry {
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

/** Forgets what lies before the place where the replay begins. */
export function dropPassed(state: SessionState): void {
  const { offset: from = 0 } = state.metadata;
  if ((state.entries[0]?.at ?? from) >= from) return;
  setEntries(
    state,
    state.entries.filter(({ at }) => at >= from),
  );
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

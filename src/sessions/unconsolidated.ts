/** Finds the turns of a session file that are not in memory yet: without its lock, and holding no more than is asked for. */

import type { FileSystem } from "../core/platform.ts";
import type { PassedOver, StoredMessage, Unconsolidated } from "../core/session.ts";
import { linesFromEnd, linesFromStart } from "../lib/placed-lines.ts";
import { beginsTurn } from "../lib/transcript.ts";
import { createBoundedTurn, saidTokens } from "./bounded-turn.ts";
import { isCounted, parseSessionLine, type SessionMetadata } from "./lines.ts";
import { offsetOf, sensible } from "./load.ts";
import { entryOf, tokensOf } from "./state.ts";

/** How far a session file has come into memory. */
export interface FileMark {
  readonly inode: number;
  readonly bytes: number;
  /** Its newest metadata, as far as there is any. */
  readonly metadata: SessionMetadata | undefined;
  /** Bytes up to the first message that is not in memory yet. */
  readonly at: number;
}

/** The same of metadata that is known to be the newest, once what the original counted is found. */
export function markOf({ summed, offset }: Pick<SessionMetadata, "summed" | "offset">): number {
  return summed ?? offset ?? 0;
}

interface Reading {
  readonly files: FileSystem;
  readonly path: string;
  readonly signal: AbortSignal;
}

/** `undefined` when there is no such file. */
export async function readMark({ files, path, signal }: Reading): Promise<FileMark | undefined> {
  const stat = await files.linkStat(path);
  if (stat?.kind !== "file") return undefined;
  const { inode, bytes } = stat;
  const metadata = await newestMetadata({ files, path, signal }, bytes);
  const { summed, offset, lastConsolidated = 0 } = metadata ?? {};
  const isCountedOnly = summed === undefined && offset === undefined && lastConsolidated > 0;
  const at = isCountedOnly
    ? await offsetOf(files, path, lastConsolidated, signal)
    : markOf({ summed, offset });
  return { inode, bytes, metadata, at };
}

async function newestMetadata(
  { files, path, signal }: Reading,
  bytes: number,
): Promise<SessionMetadata | undefined> {
  for await (const line of linesFromEnd(files, path, bytes)) {
    signal.throwIfAborted();
    const parsed = parseSessionLine(line.bytes);
    if (parsed.kind === "metadata") return sensible(parsed.metadata, bytes);
  }
  return undefined;
}

/** How many messages, as the original counts them, lie between two places of a file. */
export async function messagesBetween(
  { files, path, signal }: Reading,
  from: number,
  to: number,
): Promise<number> {
  let counted = 0;
  for await (const { at, bytes } of linesFromStart(files.stream(path, { start: from, signal }), from)) {
    if (at >= to) break;
    if (isCounted(parseSessionLine(bytes))) counted++;
  }
  return counted;
}

interface Wanted extends Reading {
  readonly key: string;
  readonly isArchived: boolean;
  readonly maxTokens: number;
  readonly keepTokens: number;
  readonly mostTokens?: number;
}

/** See `SessionStore.unconsolidated`. */
export async function findUnconsolidated(wanted: Wanted): Promise<Unconsolidated | undefined> {
  const { key, path, isArchived, maxTokens } = wanted;
  const mark = await readMark(wanted);
  if (mark === undefined || mark.at >= mark.bytes) return undefined;
  const end = await keptFrom(wanted, mark);
  const start = await wantedFrom(wanted, mark, end);
  const messages: StoredMessage[] = [];
  let tokens = 0;
  let to = start;
  let hasMore = false;
  for await (const turn of turnsOf(wanted, { at: start, bytes: mark.bytes })) {
    if (!turn.isWhole || turn.to > end) break;
    hasMore = messages.length > 0 && tokens + turn.tokens > maxTokens;
    if (hasMore) break;
    for (const message of turn.messages) messages.push(message);
    tokens += turn.tokens;
    to = turn.to;
  }
  if (messages.length === 0) return undefined;
  const passed = start > mark.at ? { passed: await passedOver(wanted, mark.at, start) } : {};
  return { key, path, isArchived, inode: mark.inode, messages, from: mark.at, to, hasMore, ...passed };
}

/** Where the turns begin that are wanted at all: those before are older than the newest `mostTokens` up to `end`. */
async function wantedFrom(
  { files, path, signal, mostTokens = Number.POSITIVE_INFINITY }: Wanted,
  { at: mark }: FileMark,
  end: number,
): Promise<number> {
  // A byte is never more than a token.
  if (end - mark <= mostTokens) return mark;
  let tokens = 0;
  let start: number | undefined;
  for await (const { at, bytes } of linesFromEnd(files, path, end)) {
    signal.throwIfAborted();
    if (at < mark) break;
    const line = parseSessionLine(bytes);
    if (line.kind !== "message") continue;
    tokens += saidTokens(line.message);
    if (tokens > mostTokens && start !== undefined) return start;
    if (beginsTurn(line.message)) start = at;
  }
  return mark;
}

async function passedOver({ files, path, signal }: Wanted, from: number, to: number): Promise<PassedOver> {
  let messages = 0;
  let since: string | undefined;
  let until: string | undefined;
  for await (const { at, bytes } of linesFromStart(files.stream(path, { start: from, signal }), from)) {
    if (at >= to) break;
    const line = parseSessionLine(bytes);
    if (line.kind !== "message") continue;
    messages++;
    since ??= line.message.timestamp;
    until = line.message.timestamp ?? until;
  }
  return {
    messages,
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/** Where the newest turns begin that stay out of memory for now. */
async function keptFrom(
  { files, path, signal, keepTokens }: Wanted,
  { at: mark, bytes: size }: FileMark,
): Promise<number> {
  if (keepTokens <= 0) return size;
  let tokens = 0;
  let start: number | undefined;
  for await (const { at, bytes } of linesFromEnd(files, path, size)) {
    signal.throwIfAborted();
    const line = parseSessionLine(bytes);
    if (line.kind === "message") {
      const entry = entryOf(line.message, at);
      tokens += tokensOf(entry);
      if (tokens > keepTokens && start !== undefined) return start;
      if (beginsTurn(line.message)) start = at;
    }
    if (at <= mark) break;
  }
  return tokens > keepTokens && start !== undefined ? start : mark;
}

interface Turn {
  readonly messages: readonly StoredMessage[];
  readonly tokens: number;
  /** Bytes up to what comes after it. */
  readonly to: number;
  readonly isWhole: boolean;
}

async function* turnsOf(
  { files, path, signal, maxTokens, isArchived }: Wanted,
  { at: from, bytes: size }: Pick<FileMark, "at" | "bytes">,
): AsyncGenerator<Turn> {
  let turn = createBoundedTurn(maxTokens);
  let to = from;
  const whole = (end: number) => ({ messages: turn.messages, tokens: turn.tokens, to: end, isWhole: true });
  for await (const { at, bytes } of linesFromStart(files.stream(path, { start: from, signal }), from)) {
    // What has been appended since is for the next time.
    if (at >= size) break;
    const line = parseSessionLine(bytes);
    if (line.kind !== "message") continue;
    if (turn.messages.length > 0 && beginsTurn(line.message)) {
      yield whole(at);
      turn = createBoundedTurn(maxTokens);
    }
    turn.add(line.message);
    to = at + bytes.length + 1;
  }
  const last = turn.messages.at(-1);
  if (last === undefined) return;
  const isAnswered = last.role === "assistant" && (last.tool_calls ?? []).length === 0;
  // Nothing will be added to a file of the archive.
  yield { ...whole(to), isWhole: isAnswered || isArchived };
}

/** The records of the journals, as they stand in the files: one JSON object a line, told apart by its keys. */

import * as v from "valibot";
import type { FinalMessage, InboundId, InboundMessage, OutboundId } from "../../core/messages.ts";

/**
 * What happened to inbound messages, in order. Recording a thing twice says nothing new, so that whatever
 * may not have reached the disk can be recorded again.
 */
export type InboxRecord =
  | { readonly put: InboundMessage }
  /** Also of an id whose put has left the file: the id is known. */
  | { readonly done: InboundId }
  /** Whoever asked for the put of this id was told that it failed, whatever of it is in the file. */
  | { readonly void: InboundId }
  | { readonly resume: InboundId; readonly progress: number; readonly count: number };

export type OutboxRecord =
  /** `at` is milliseconds since the epoch. */
  | { readonly put: FinalMessage; readonly at: number }
  /** With what it answers when its put has left the file. */
  | ({ readonly done: OutboundId } & Partial<Answered>)
  | { readonly void: OutboundId }
  | { readonly failed: OutboundId; readonly reason: string }
  | { readonly retry: OutboundId }
  | { readonly part: OutboundId; readonly index: number; readonly messageId: string }
  /** Without a message: it is complete. */
  | { readonly stream: InboundId; readonly messageId?: string };

/** The inbound messages in whose turn an outbound one was put: its id is kept until all of them are done. */
export interface Answered {
  readonly turn: InboundId;
  readonly answers: readonly InboundId[];
}

/** Ids that left the inbox together: reading a hundred thousand of them one by one would hold up the start. */
export interface SeenRecord {
  readonly ids: readonly string[];
  /** When that was: milliseconds since the epoch. */
  readonly at: number;
}

/** Of one message: more than anybody reads. */
const MOST_PARTS = 100_000;

const text = v.string();
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
/** As far as a date goes. */
const time = v.pipe(v.number(), v.minValue(0), v.maxValue(8.64e15));
const metadata = v.record(text, v.unknown());
const media = v.array(v.looseObject({ path: text, mime: text, name: v.optional(text) }));

// Words that this version does not know, such as an origin, are taken: the message was acknowledged.
const inboundMessage = v.looseObject({
  id: text,
  kind: text,
  channel: text,
  senderId: text,
  chatId: text,
  content: text,
  media,
  timestamp: text,
  origin: text,
  sessionKey: text,
  thread: v.optional(text),
  replyTo: v.optional(text),
  metadata,
});

const finalMessage = v.looseObject({
  id: text,
  kind: v.literal("final"),
  channel: text,
  chatId: text,
  turn: text,
  content: text,
  outcome: text,
  answers: v.array(text),
  media,
  thread: v.optional(text),
  replyTo: v.optional(text),
  buttons: v.optional(v.array(v.array(v.looseObject({ label: text, send: text })))),
  metadata,
});

const inboxRecord = v.union([
  v.object({ put: inboundMessage }),
  v.object({ done: text }),
  v.object({ void: text }),
  v.object({ resume: text, progress: count, count }),
]);

const outboxRecord = v.union([
  v.object({ put: finalMessage, at: time }),
  v.object({ done: text, turn: v.optional(text), answers: v.optional(v.array(text)) }),
  v.object({ void: text }),
  v.object({ failed: text, reason: text }),
  v.object({ retry: text }),
  v.object({ part: text, index: v.pipe(count, v.maxValue(MOST_PARTS)), messageId: text }),
  v.object({ stream: text, messageId: v.optional(text) }),
]);

const seenRecord = v.object({ ids: v.array(text), at: time });

/** `undefined` for what is none. */
export type ParseRecord<Record> = (value: unknown) => Record | undefined;

export const parseInboxRecord: ParseRecord<InboxRecord> = (value) =>
  v.is(inboxRecord, value) ? (value as unknown as InboxRecord) : undefined;

export const parseOutboxRecord: ParseRecord<OutboxRecord> = (value) =>
  v.is(outboxRecord, value) ? (value as unknown as OutboxRecord) : undefined;

export const parseSeenRecord: ParseRecord<SeenRecord> = (value) =>
  v.is(seenRecord, value) ? value : undefined;

/** A line, without its newline. */
export function formatRecord(record: InboxRecord | OutboxRecord | SeenRecord): string {
  return JSON.stringify(record);
}

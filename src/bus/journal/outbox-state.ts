/** What the records of the outbox add up to: the same while it runs as when the file is read again. */

import { type FinalMessage, type InboundId, NOWHERE, type OutboundId } from "../../core/messages.ts";
import type { Answered, OutboxRecord } from "./records.ts";

interface Undelivered {
  readonly message: FinalMessage;
  readonly at: number;
  /** What the platform called the parts that it has. */
  readonly sent: string[];
  /** Why the attempts ended, if they did. */
  failure: string | undefined;
}

export interface OutboxState {
  apply(record: OutboxRecord): void;
  /** Not delivered, in the order in which they are handed out. */
  readonly undelivered: ReadonlyMap<OutboundId, Readonly<Undelivered>>;
  /** Of `channel`, the one whose attempts ended first comes first. */
  failedOf(channel: string): ReadonlySet<OutboundId>;
  /** Delivered or dropped, as far as the file has them. */
  readonly delivered: ReadonlyMap<OutboundId, Answered>;
  readonly streams: ReadonlyMap<InboundId, string>;
  /** Nobody asks for these any more. */
  forget(ids: Iterable<OutboundId>): void;
  /** Forgets the streams of turns that are over: neither `isPending` nor with an answer under way. */
  forgetStreams(isPending: (turn: InboundId) => boolean): void;
  /** Records that add up to this state without what is `left` out. */
  live(left?: ReadonlySet<OutboundId>): Iterable<OutboxRecord>;
}

const NONE: ReadonlySet<OutboundId> = new Set();

export function createOutboxState(): OutboxState {
  const undelivered = new Map<OutboundId, Undelivered>();
  const delivered = new Map<OutboundId, Answered>();
  const failed = new Map<string, Set<OutboundId>>();
  const streams = new Map<InboundId, string>();

  function put(message: FinalMessage, at: number): void {
    const { id, channel } = message;
    if (undelivered.has(id) || delivered.has(id)) return;
    if (channel === NOWHERE) deliver(id, message);
    else undelivered.set(id, { message, at, sent: [], failure: undefined });
  }

  function deliver(id: OutboundId, { turn, answers }: Answered): void {
    delivered.set(id, { turn, answers });
    for (const answered of answers) streams.delete(answered);
  }

  function done(record: Extract<OutboxRecord, { readonly done: OutboundId }>): void {
    const { done: id, turn = "" as InboundId, answers = [] } = record;
    const message = undelivered.get(id)?.message;
    remove(id);
    deliver(id, message ?? delivered.get(id) ?? { turn, answers });
  }

  function remove(id: OutboundId): void {
    revive(id);
    undelivered.delete(id);
  }

  function revive(id: OutboundId): void {
    const entry = undelivered.get(id);
    if (entry?.failure === undefined) return;
    entry.failure = undefined;
    failed.get(entry.message.channel)?.delete(id);
  }

  function fail(id: OutboundId, reason: string): void {
    const entry = undelivered.get(id);
    if (entry === undefined) return;
    revive(id);
    entry.failure = reason;
    const { channel } = entry.message;
    const ofChannel = failed.get(channel) ?? new Set();
    failed.set(channel, ofChannel.add(id));
  }

  function retry(id: OutboundId): void {
    const entry = undelivered.get(id);
    if (entry === undefined) return;
    revive(id);
    // Behind whatever was put since.
    undelivered.delete(id);
    undelivered.set(id, entry);
  }

  return {
    undelivered,
    delivered,
    streams,
    failedOf: (channel) => failed.get(channel) ?? NONE,

    apply(record) {
      if ("put" in record) put(record.put, record.at);
      else if ("done" in record) done(record);
      else if ("void" in record) {
        remove(record.void);
        delivered.delete(record.void);
      } else if ("failed" in record) fail(record.failed, record.reason);
      else if ("retry" in record) retry(record.retry);
      else if ("part" in record) {
        const sent = undelivered.get(record.part)?.sent;
        if (sent === undefined) return;
        // Where a record is lost, the part before was sent all the same.
        while (sent.length < record.index) sent.push("");
        sent[record.index] = record.messageId;
      } else {
        streams.delete(record.stream);
        if (record.messageId !== undefined) streams.set(record.stream, record.messageId);
      }
    },

    forget(ids) {
      for (const id of ids) delivered.delete(id);
    },

    forgetStreams(isPending) {
      const answered = new Set<InboundId>();
      for (const { message } of undelivered.values()) for (const id of message.answers) answered.add(id);
      for (const turn of streams.keys()) {
        if (!answered.has(turn) && !isPending(turn)) streams.delete(turn);
      }
    },

    *live(left) {
      for (const [id, { turn, answers }] of delivered) if (!left?.has(id)) yield { done: id, turn, answers };
      for (const [stream, messageId] of streams) yield { stream, messageId };
      for (const [id, { message, at, sent, failure }] of undelivered) {
        yield { put: message, at };
        for (const [index, messageId] of sent.entries()) yield { part: id, index, messageId };
        if (failure !== undefined) yield { failed: id, reason: failure };
      }
    },
  };
}

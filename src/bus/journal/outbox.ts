/** The outbound half of the journal: final messages are kept until they are delivered, failed ones until somebody decides. */

import { Buffer } from "node:buffer";
import type { OutboundDelivery, Outbox } from "../../core/bus.ts";
import {
  type FinalMessage,
  type InboundId,
  NOWHERE,
  type OutboundId,
  type OutboundMessage,
} from "../../core/messages.ts";
import type { Clock } from "../../core/platform.ts";
import { head } from "../../lib/text.ts";
import { type BusLimits, createBounds, type Free } from "../bounds.ts";
import { createFeed } from "../feed.ts";
import { createOnce } from "../once.ts";
import { createCompaction } from "./compaction.ts";
import { type JournalFileOptions, openJournalFile } from "./journal-file.ts";
import type { OutboxState } from "./outbox-state.ts";
import { formatRecord, type OutboxRecord } from "./records.ts";

/** Of a channel. */
const MOST_FAILED = 1_000;
const LONGEST_REASON = 1_000;

export interface OutboxOptions extends Omit<JournalFileOptions, "live"> {
  readonly limits: BusLimits;
  readonly compactAt: number;
  /** What the file says. */
  readonly state: OutboxState;
  readonly clock: Pick<Clock, "after" | "now">;
  readonly inbox: {
    isPending(id: InboundId): boolean;
    synced(): Promise<void>;
  };
}

export interface OutboundJournal {
  publish(message: OutboundMessage, signal: AbortSignal): Promise<boolean>;
  deliveries(signal: AbortSignal): AsyncIterable<OutboundDelivery>;
  openStream(turn: InboundId): string | undefined;
  recordStream(turn: InboundId, messageId: string | undefined): Promise<void>;
  readonly outbox: Outbox;
  problem(): string | undefined;
  close(): Promise<void>;
}

export async function openOutbox(options: OutboxOptions): Promise<OutboundJournal> {
  const { limits, compactAt, state, inbox, clock, log, path } = options;
  const { undelivered, delivered } = state;
  const live = () => Array.from(state.live(), formatRecord);
  const file = await openJournalFile({ ...options, live });
  const bounds = createBounds(limits);
  const feed = createFeed<OutboundDelivery>();
  const once = createOnce((id) => undelivered.has(id as OutboundId) || delivered.has(id as OutboundId));
  /** The room of those that are handed out. */
  const rooms = new Map<OutboundId, Free>();
  /** Delivered, and still in the file when it was last made smaller. */
  let kept = 0;
  const compaction = createCompaction(
    { log, path, minBytes: compactAt, bytes: () => file.bytes, live: () => undelivered.size + kept, compact },
    undelivered.size + delivered.size,
  );

  function record(entry: OutboxRecord): Promise<void> {
    state.apply(entry);
    return file.note(formatRecord(entry));
  }

  function finish(id: OutboundId): Promise<void> {
    rooms.get(id)?.();
    rooms.delete(id);
    const recorded = record({ done: id });
    compaction.onDone();
    return recorded;
  }

  function handOut(message: FinalMessage, free: Free): void {
    const { id } = message;
    const entry = undelivered.get(id);
    rooms.set(id, free);
    // Once it failed or was dropped, this delivery has no say, even when it is being sent anew.
    const isOver = () => undelivered.get(id) !== entry || rooms.get(id) !== free;
    const delivery: OutboundDelivery = {
      message,
      sent: entry?.sent ?? [],
      get isOver() {
        return isOver();
      },
      async part(messageId) {
        if (!isOver()) await record({ part: id, index: entry?.sent.length ?? 0, messageId });
      },
      async failed(reason) {
        if (!isOver()) await fail(message, reason);
      },
      async done() {
        if (!isOver()) await finish(id);
      },
    };
    feed.push(delivery);
  }

  async function fail({ id, channel }: FinalMessage, reason: string): Promise<void> {
    rooms.get(id)?.();
    rooms.delete(id);
    const recorded = [record({ failed: id, reason: head(reason, LONGEST_REASON) })];
    const failed = state.failedOf(channel);
    for (const oldest of failed) {
      if (failed.size <= MOST_FAILED) break;
      recorded.push(giveUp(oldest));
    }
    await Promise.all(recorded);
  }

  function giveUp(id: OutboundId): Promise<void> {
    const entry = undelivered.get(id);
    log.error("Gave up a message that was never delivered, because too many have failed since", {
      id,
      channel: entry?.message.channel,
      chat: entry?.message.chatId,
      characters: entry?.message.content.length,
      reason: entry?.failure,
    });
    return finish(id);
  }

  function handOutTransient(message: OutboundMessage, free: Free): void {
    const sent: string[] = [];
    let isOver = false;
    const finish = async () => {
      isOver = true;
      free();
    };
    feed.push({
      message,
      sent,
      get isOver() {
        return isOver;
      },
      part: async (messageId) => void sent.push(messageId),
      failed: finish,
      done: finish,
    });
  }

  /** At once where that is possible, so that messages stand in the order of the calls. */
  function takeRoom(channel: string, bytes: number, signal: AbortSignal): Free | Promise<Free> {
    if (channel === NOWHERE) return () => {};
    return bounds.tryTake(channel, bytes) ?? bounds.take(channel, bytes, signal);
  }

  function forceRoom(message: FinalMessage, at: number): Free {
    return bounds.force(message.channel, Buffer.byteLength(formatRecord({ put: message, at })));
  }

  async function put(message: FinalMessage, signal: AbortSignal): Promise<boolean> {
    const { id, channel } = message;
    const at = clock.now();
    const line = formatRecord({ put: message, at });
    if (file.problem() !== undefined) await file.ready();
    const room = takeRoom(channel, Buffer.byteLength(line), signal);
    const free = room instanceof Promise ? await room : room;
    try {
      await file.put(line, formatRecord({ void: id }), () => {
        state.apply({ put: message, at });
        compaction.onPut();
        if (channel !== NOWHERE) handOut(message, free);
      });
    } catch (error) {
      free();
      throw error;
    }
    if (channel === NOWHERE) compaction.onDone();
    return true;
  }

  async function compact(): Promise<boolean> {
    const isPending = (id: InboundId) => inbox.isPending(id);
    const left = new Set<OutboundId>();
    for (const [id, { turn, answers }] of delivered) {
      if (!isPending(turn) && !answers.some(isPending)) left.add(id);
    }
    state.forgetStreams(isPending);
    // Should the records that these turns are done be lost, the turns run again, and must find their answers.
    await inbox.synced();
    const lines = () => Array.from(state.live(left), formatRecord);
    return file.rewrite(lines, () => {
      state.forget(left);
      kept = delivered.size;
    });
  }

  for (const { message, at, failure } of undelivered.values()) {
    if (failure !== undefined) continue;
    handOut(message, forceRoom(message, at));
  }

  const outbox: Outbox = {
    list() {
      const entries = Array.from(undelivered.values(), ({ message, at, sent, failure }) => ({
        id: message.id,
        channel: message.channel,
        chatId: message.chatId,
        thread: message.thread,
        state: failure === undefined ? ("waiting" as const) : ("failed" as const),
        reason: failure,
        createdAt: new Date(at).toISOString(),
        sent: sent.length,
        content: message.content,
      }));
      return entries.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
    },
    async retry(id) {
      const entry = undelivered.get(id);
      if (entry?.failure === undefined) return false;
      const recorded = record({ retry: id });
      const { message, at } = entry;
      file.inTurn(() => {
        const isStillWanted = undelivered.get(id) === entry && entry.failure === undefined && !rooms.has(id);
        if (isStillWanted) handOut(message, forceRoom(message, at));
      });
      await recorded;
      return true;
    },
    async drop(id) {
      if (!undelivered.has(id)) return false;
      await finish(id);
      return true;
    },
  };

  return {
    outbox,
    async publish(message, signal) {
      signal.throwIfAborted();
      if (message.kind === "final") return once(message.id, signal, () => put(message, signal));
      const bytes = Buffer.byteLength(message.content);
      const room = takeRoom(message.channel, bytes, signal);
      const free = room instanceof Promise ? await room : room;
      if (message.channel !== NOWHERE) file.inTurn(() => handOutTransient(message, free));
      return true;
    },
    async *deliveries(signal) {
      for await (const delivery of feed.items(signal)) if (!delivery.isOver) yield delivery;
    },
    openStream: (turn) => state.streams.get(turn),
    async recordStream(turn, messageId) {
      if (state.streams.get(turn) === messageId) return;
      await record({ stream: turn, ...(messageId === undefined ? {} : { messageId }) });
    },
    problem: () => file.problem(),
    async close() {
      await compaction.settled();
      await file.close();
    },
  };
}

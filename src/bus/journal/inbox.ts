/** The inbound half of the journal: messages are on disk before they are acknowledged, and handed out until they are done. */

import { Buffer } from "node:buffer";
import type { InboundDelivery } from "../../core/bus.ts";
import type { InboundId, InboundMessage } from "../../core/messages.ts";
import { type BusLimits, createBounds, type Free } from "../bounds.ts";
import { createFeed } from "../feed.ts";
import { createOnce } from "../once.ts";
import { nextResumes } from "../resumes.ts";
import { createCompaction } from "./compaction.ts";
import type { InboxState } from "./inbox-state.ts";
import { type JournalFileOptions, openJournalFile } from "./journal-file.ts";
import { formatRecord, type InboxRecord } from "./records.ts";
import type { Seen } from "./seen.ts";

export interface InboxOptions extends Omit<JournalFileOptions, "live"> {
  readonly limits: BusLimits;
  readonly compactAt: number;
  /** What the file says. */
  readonly state: InboxState;
  readonly seen: Seen;
  /** Has an answer that is known: only the record that it is done was lost. */
  readonly isAnswered: (id: InboundId) => boolean;
}

export interface Inbox {
  publish(message: InboundMessage, signal: AbortSignal): Promise<boolean>;
  deliveries(signal: AbortSignal): AsyncIterable<InboundDelivery>;
  isPending(id: InboundId): boolean;
  /** Resolves when all that was recorded so far is on disk. */
  synced(): Promise<void>;
  problem(): string | undefined;
  close(): Promise<void>;
}

/** All inbound messages share one bound. */
const SHARE = "inbound";

export async function openInbox(options: InboxOptions): Promise<Inbox> {
  const { limits, compactAt, state, seen, isAnswered, log, path } = options;
  const live = () => Array.from(state.live(), formatRecord);
  const file = await openJournalFile({ ...options, live });
  const bounds = createBounds(limits);
  const feed = createFeed<InboundDelivery>();
  const isKnown = (id: string) =>
    state.pending.has(id as InboundId) || state.finished.has(id as InboundId) || seen.has(id);
  const once = createOnce(isKnown);
  const compaction = createCompaction(
    { log, path, minBytes: compactAt, bytes: () => file.bytes, live: () => state.pending.size, compact },
    state.pending.size + state.finished.size,
  );

  function record(entry: InboxRecord): Promise<void> {
    state.apply(entry);
    return file.note(formatRecord(entry));
  }

  function handOut(message: InboundMessage, { free, isRedelivered }: { free: Free; isRedelivered: boolean }) {
    const { id } = message;
    feed.push({
      message,
      isRedelivered,
      async resume(progress) {
        const resumes = nextResumes(state.pending.get(id)?.resumes, progress);
        await record({ resume: id, ...resumes });
        return resumes.count;
      },
      async done() {
        if (!state.pending.has(id)) return;
        free();
        const recorded = record({ done: id });
        compaction.onDone();
        await recorded;
      },
    });
  }

  async function put(message: InboundMessage, signal: AbortSignal): Promise<boolean> {
    const { id } = message;
    const line = formatRecord({ put: message });
    if (file.problem() !== undefined) await file.ready();
    // At once where that is possible, so that messages stand in the order of the calls.
    const bytes = Buffer.byteLength(line);
    const free = bounds.tryTake(SHARE, bytes) ?? (await bounds.take(SHARE, bytes, signal));
    try {
      await file.put(line, formatRecord({ void: id }), () => {
        state.apply({ put: message });
        compaction.onPut();
        handOut(message, { free, isRedelivered: false });
      });
      return true;
    } catch (error) {
      free();
      throw error;
    }
  }

  async function compact(): Promise<boolean> {
    const ids = [...state.finished];
    // First there, then gone here: a crash between the two leaves them in both.
    await seen.add(ids);
    const left = new Set(ids);
    const kept = () => Array.from(state.live(left), formatRecord);
    return file.rewrite(kept, () => state.forget(ids));
  }

  for (const [id, { message }] of state.pending) {
    if (isAnswered(id) || seen.has(id)) {
      record({ done: id }).catch((error) => log.debug("Could not record what is done", { path, error }));
    } else {
      const free = bounds.force(SHARE, Buffer.byteLength(formatRecord({ put: message })));
      handOut(message, { free, isRedelivered: true });
    }
  }

  return {
    async publish(message, signal) {
      signal.throwIfAborted();
      return once(message.id, signal, () => put(message, signal));
    },
    deliveries: (signal) => feed.items(signal),
    isPending: (id) => state.pending.has(id),
    synced: () => file.synced(),
    problem: () => file.problem(),
    async close() {
      await compaction.settled();
      await file.close();
    },
  };
}

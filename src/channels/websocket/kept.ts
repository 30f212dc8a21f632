/** The answers that are kept of each chat, within bounds, and up to where some are not kept any more. */

import type { FinalRecord } from "./record.ts";

/** Of which it is known, one by one, what was lost in them. */
const MOST_CHATS = 10_000;

interface Losses {
  /** The number of the last answer of each chat that is not kept. */
  readonly lost: { readonly [chat: string]: number };
  /** The highest of those of chats that `lost` has no room for. */
  readonly floor: number;
}

export interface Kept {
  has(id: string): boolean;
  /** Those behind number `seq`, in order. */
  after(chat: string, seq: number): readonly FinalRecord["event"][];
  /** The number up to which answers of the chat may be missing; 0 when none is. */
  lost(chat: string): number;
  /** The number of the chat's last answer; 0 without one. */
  latest(chat: string): number;
  /** Of all chats. */
  highest(): number;
  /** `bytes` on disk. Those of one chat are added in the order of their numbers. */
  add(record: FinalRecord, bytes: number): void;
  /** Drops what is too old. */
  expire(now: number): void;
  /** Drops the oldest until all that are left have `bytes` at most. */
  shrink(bytes: number): void;
  /** All, oldest first. */
  records(): readonly FinalRecord[];
  losses(): Losses;
  restore(losses: Losses): void;
}

interface Entry {
  readonly record: FinalRecord;
  readonly bytes: number;
}

export function createKept({ keepMessages, keepMs }: { keepMessages: number; keepMs: number }): Kept {
  /** By id, oldest first. */
  const entries = new Map<string, Entry>();
  const chats = new Map<string, Entry[]>();
  const lost = new Map<string, number>();
  let floor = 0;
  let highest = 0;
  let bytes = 0;

  function noteLoss(chat: string, seq: number): void {
    const before = lost.get(chat) ?? 0;
    lost.delete(chat);
    lost.set(chat, Math.max(before, seq));
    for (const [oldest, last] of lost) {
      if (lost.size <= MOST_CHATS) break;
      lost.delete(oldest);
      floor = Math.max(floor, last);
    }
  }

  /** Only ever the oldest of its chat. */
  function drop({ record, bytes: size }: Entry): void {
    const { chat, event } = record;
    entries.delete(event.id);
    bytes -= size;
    const those = chats.get(chat);
    those?.shift();
    if (those?.length === 0) chats.delete(chat);
    noteLoss(chat, event.seq);
  }

  function dropOldest(isTooMuch: (oldest: Entry) => boolean): void {
    for (const entry of entries.values()) {
      if (!isTooMuch(entry)) return;
      drop(entry);
    }
  }

  return {
    has: (id) => entries.has(id),
    after(chat, seq) {
      return (chats.get(chat) ?? []).map(({ record }) => record.event).filter((event) => event.seq > seq);
    },
    lost: (chat) => Math.max(floor, lost.get(chat) ?? 0),
    latest: (chat) => chats.get(chat)?.at(-1)?.record.event.seq ?? 0,
    highest: () => highest,
    add(record, size) {
      const { chat, event } = record;
      if (entries.has(event.id)) return;
      const entry = { record, bytes: size };
      entries.set(event.id, entry);
      bytes += size;
      highest = Math.max(highest, event.seq);
      const those = chats.get(chat) ?? [];
      chats.set(chat, those);
      those.push(entry);
      const [oldest] = those;
      if (those.length > keepMessages && oldest !== undefined) drop(oldest);
    },
    expire: (now) => dropOldest(({ record }) => Date.parse(record.event.at) < now - keepMs),
    shrink: (most) => dropOldest(() => bytes > most),
    records: () => [...entries.values()].map(({ record }) => record),
    losses: () => ({ lost: Object.fromEntries(lost), floor }),
    restore(losses) {
      for (const [chat, seq] of Object.entries(losses.lost)) noteLoss(chat, seq);
      floor = Math.max(floor, losses.floor);
      highest = Math.max(highest, floor, ...lost.values());
    },
  };
}

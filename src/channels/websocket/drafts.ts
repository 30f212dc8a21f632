/** What is shown of each turn until its answer is there, for clients that come back meanwhile. Only in memory. */

import type { ChatEvent } from "./protocol.ts";

/** UTF-16 units of one chat, and of all. */
const MOST_TEXT = 1024 * 1024;
const MOST_TEXT_OF_ALL = 16 * 1024 * 1024;
/** What each of them counts for beside its text, because none is free. */
const OVERHEAD = 200;

export interface Drafts {
  add(chat: string, event: ChatEvent): void;
  /** The answer is there, and holds all that was shown. */
  end(chat: string, turn: string): void;
  /** Those behind number `seq`, in order. */
  after(chat: string, seq: number): readonly ChatEvent[];
  /** The number of the last one that there was no room for; 0 when there is none. */
  lost(chat: string): number;
  /** The number of the last one; 0 without one. */
  latest(chat: string): number;
}

interface Draft {
  events: ChatEvent[];
  size: number;
  lost: number;
}

const sizeOf = (event: ChatEvent) => OVERHEAD + ("content" in event ? event.content.length : 0);

export function createDrafts(): Drafts {
  /** The one that was not added to for longest comes first. */
  const drafts = new Map<string, Draft>();
  let total = 0;

  function forget(chat: string): void {
    total -= drafts.get(chat)?.size ?? 0;
    drafts.delete(chat);
  }

  function keep(chat: string, draft: Draft): void {
    drafts.set(chat, draft);
    total += draft.size;
    for (const oldest of drafts.keys()) {
      if (total <= MOST_TEXT_OF_ALL) return;
      forget(oldest);
    }
  }

  return {
    add(chat, event) {
      const draft = drafts.get(chat) ?? { events: [], size: 0, lost: 0 };
      forget(chat);
      draft.events.push(event);
      draft.size += sizeOf(event);
      let dropped = 0;
      for (const oldest of draft.events) {
        if (draft.size <= MOST_TEXT) break;
        draft.size -= sizeOf(oldest);
        draft.lost = oldest.seq;
        dropped++;
      }
      draft.events.splice(0, dropped);
      keep(chat, draft);
    },
    end(chat, turn) {
      const draft = drafts.get(chat);
      if (draft === undefined) return;
      forget(chat);
      draft.events = draft.events.filter((event) => event.turn !== turn);
      draft.size = draft.events.reduce((size, event) => size + sizeOf(event), 0);
      if (draft.events.length > 0) keep(chat, draft);
    },
    after: (chat, seq) => (drafts.get(chat)?.events ?? []).filter((event) => event.seq > seq),
    lost: (chat) => drafts.get(chat)?.lost ?? 0,
    latest: (chat) => drafts.get(chat)?.events.at(-1)?.seq ?? 0,
  };
}

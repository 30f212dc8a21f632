/** All that is said in the chats, in order: every event has a number that grows, also over restarts. */

import type { Clock } from "../../core/platform.ts";
import { createLanes } from "../../lib/lanes.ts";
import { createDrafts } from "./drafts.ts";
import type { Finals } from "./finals.ts";
import type { ChatEvent, FinalEvent } from "./protocol.ts";

/**
 * Numbers begin with the time in thousandths of a millisecond, so that they grow without a file: nobody says a
 * thousand things in each millisecond. A clock that went back is helped by the numbers on disk, and by this much
 * for what was said after them and is not there.
 */
const PER_MS = 1_000;
const MARGIN = 1_000_000;

/** More chats can speak at once than ever will. */
const MOST_AT_ONCE = 1_000;

/** An event that has no number yet. `Event` is distributed, so that each kind keeps its own fields. */
export type Unnumbered<Event = ChatEvent> = Event extends ChatEvent ? Omit<Event, "seq"> : never;

export interface TimelineOptions {
  readonly finals: Finals;
  readonly clock: Pick<Clock, "now">;
  /** Hears every event when it is part of the chat. */
  readonly said: (chat: string, event: ChatEvent) => void;
}

export interface Timeline {
  /** Resolves when it was said. An answer is on disk by then; one that was said before is not said again. */
  say(chat: string, event: Unnumbered): Promise<void>;
  /** What is kept of the chat behind number `seq`, in order. */
  after(chat: string, seq: number): readonly ChatEvent[];
  /** Whether something behind number `seq` may be missing. */
  isGap(chat: string, seq: number): boolean;
  /** The number from which on a client hears all, when it begins to listen now. */
  latest(chat: string): number;
}

export function createTimeline({ finals, clock, said }: TimelineOptions): Timeline {
  const lanes = createLanes({ limit: MOST_AT_ONCE });
  const drafts = createDrafts();
  const beginning = Math.max(clock.now() * PER_MS, finals.highest() + MARGIN);
  let last = beginning;

  async function saySomething(chat: string, event: Unnumbered): Promise<void> {
    if (event.type === "final") return sayFinal(chat, event);
    const numbered = { ...event, seq: ++last };
    drafts.add(chat, numbered);
    said(chat, numbered);
  }

  async function sayFinal(chat: string, event: Unnumbered<FinalEvent>): Promise<void> {
    if (finals.has(event.id)) return;
    const numbered = { ...event, seq: ++last };
    await finals.add({ chat, event: numbered });
    // Of a note beside the answer the turn goes on.
    if (event.outcome !== "message" && event.outcome !== "notice") drafts.end(chat, event.turn);
    said(chat, numbered);
  }

  function latest(chat: string): number {
    return Math.max(
      beginning,
      finals.latest(chat),
      finals.lost(chat),
      drafts.latest(chat),
      drafts.lost(chat),
    );
  }

  return {
    // One after the other: what has a higher number must not be heard before what is still being written.
    say: (chat, event) => lanes.run(chat, () => saySomething(chat, event)),
    after(chat, seq) {
      const events = [...finals.after(chat, seq), ...drafts.after(chat, seq)];
      return events.sort((one, other) => one.seq - other.seq);
    },
    isGap(chat, seq) {
      const isFuture = seq > latest(chat);
      return isFuture || seq < Math.max(finals.lost(chat), drafts.lost(chat));
    },
    latest,
  };
}

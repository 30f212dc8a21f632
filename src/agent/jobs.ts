/** What waits and runs in the lanes of the sessions, and what becomes of it: it runs, joins another, or is called off. */

import type { InboundDelivery } from "../core/bus.ts";
import type { InboundId, InboundMessage } from "../core/messages.ts";
import type { Aside } from "../lib/lanes.ts";
import { chatCommand } from "./commands.ts";
import type { TurnStatus } from "./running-turn.ts";

/** Ids remembered that were answered before they were handed out: as many as the bus holds. */
const MOST_AHEAD = 10_000;

/** A turn, from when its message was handed out. */
export interface Job {
  readonly delivery: InboundDelivery;
  readonly abort: AbortController;
  /** `gone`: it joined another, or was called off before it began. */
  state: "waiting" | "running" | "gone";
  /** A command has taken over answering it. */
  isTaken: boolean;
  /** Messages that it answers beside its own; `undefined` for one that was not handed out yet. */
  readonly joined: Map<InboundId, InboundDelivery | undefined>;
  readonly settled: PromiseWithResolvers<TurnStatus>;
  /** Gives its place to others while it waits for somebody; there once it runs. */
  aside?: Aside;
  /** What it waits for in that way. */
  waits: number;
}

/** A command that acts between turns: nobody joins a turn before it from behind it. */
type Barrier = "barrier";

export interface Jobs {
  /** The job of the message, unless it needs none: it had `joined` a turn that runs, or was `answered` by one. */
  add(delivery: InboundDelivery): Job | "joined" | "answered";
  remove(job: Job): void;
  /** Keeps a place for a command, until the returned function is called. */
  hold(sessionKey: string): () => void;
  /** Those of a session that run or wait and that nobody has taken. */
  of(sessionKey: string): readonly Job[];
  all(): readonly Job[];
  /** See `TurnPort`. */
  join(job: Job, canJoin: (message: InboundMessage) => boolean): readonly InboundMessage[];
  rejoin(job: Job, ids: readonly InboundId[]): void;
  /** `wait` is for a person, in the middle of `turn`: others may have its place meanwhile, and the end does not wait for it. */
  aside<T>(turn: InboundId, wait: () => Promise<T>): Promise<T>;
  /** Marks the message of a job done, and those that joined it. */
  finish(job: Job): Promise<void>;
}

/** Whether both can be answered by one message: the same person said both, in the same place. */
function belongTogether(running: InboundMessage, waiting: InboundMessage): boolean {
  return (
    [running, waiting].every(({ kind, origin }) => kind === "message" && origin === "chat") &&
    running.senderId === waiting.senderId &&
    running.channel === waiting.channel &&
    running.chatId === waiting.chatId &&
    running.thread === waiting.thread &&
    chatCommand(waiting) === undefined
  );
}

export function createJobs(): Jobs {
  /** By session, in the order of its lane. */
  const places = new Map<string, Map<object, Job | Barrier>>();
  const answeredAhead = new Set<InboundId>();

  function place(sessionKey: string, key: object, what: Job | Barrier): void {
    const ofSession = places.get(sessionKey) ?? new Map<object, Job | Barrier>();
    places.set(sessionKey, ofSession.set(key, what));
  }

  function leave(sessionKey: string, key: object): void {
    const ofSession = places.get(sessionKey);
    ofSession?.delete(key);
    if (ofSession?.size === 0) places.delete(sessionKey);
  }

  function jobsIn(sessionKey: string): readonly Job[] {
    return [...(places.get(sessionKey)?.values() ?? [])].filter((what) => what !== "barrier");
  }

  function all(): readonly Job[] {
    return [...places.keys()].flatMap(jobsIn);
  }

  function remove(job: Job): void {
    leave(job.delivery.message.sessionKey, job);
  }

  function takeInto(job: Job, other: Job): void {
    other.state = "gone";
    job.joined.set(other.delivery.message.id, other.delivery);
    remove(other);
  }

  return {
    remove,

    add(delivery) {
      const { id, sessionKey } = delivery.message;
      if (delivery.isRedelivered) {
        if (answeredAhead.delete(id)) return "answered";
        const joinedBy = jobsIn(sessionKey).find(({ joined }) => joined.has(id));
        if (joinedBy !== undefined) {
          joinedBy.joined.set(id, delivery);
          return "joined";
        }
      }
      const job: Job = {
        delivery,
        abort: new AbortController(),
        state: "waiting",
        isTaken: false,
        joined: new Map(),
        settled: Promise.withResolvers(),
        waits: 0,
      };
      place(sessionKey, job, job);
      return job;
    },

    hold(sessionKey) {
      const key = {};
      place(sessionKey, key, "barrier");
      return () => leave(sessionKey, key);
    },

    async aside(turn, wait) {
      const job = all().find(({ state, delivery }) => state === "running" && delivery.message.id === turn);
      if (job?.aside === undefined) return wait();
      job.waits++;
      try {
        return await job.aside(wait);
      } finally {
        job.waits--;
      }
    },

    of: (sessionKey) => jobsIn(sessionKey).filter(({ isTaken }) => !isTaken),
    all,

    join(job, canJoin) {
      const { message } = job.delivery;
      const joined: InboundMessage[] = [];
      for (const other of [...(places.get(message.sessionKey)?.values() ?? [])]) {
        if (other === job) continue;
        if (other === "barrier") break;
        const { message: waiting } = other.delivery;
        if (other.isTaken || !belongTogether(message, waiting) || !canJoin(waiting)) break;
        takeInto(job, other);
        joined.push(waiting);
      }
      return joined;
    },

    rejoin(job, ids) {
      const waiting = new Map(
        jobsIn(job.delivery.message.sessionKey)
          .filter(({ state }) => state === "waiting")
          .map((other) => [other.delivery.message.id, other]),
      );
      for (const id of ids) {
        const other = waiting.get(id);
        if (other === undefined) job.joined.set(id, undefined);
        else takeInto(job, other);
      }
    },

    async finish({ delivery, joined }) {
      const deliveries = [delivery];
      for (const [id, one] of joined) {
        if (one === undefined) answeredAhead.add(id);
        else deliveries.push(one);
      }
      for (const oldest of answeredAhead) {
        if (answeredAhead.size <= MOST_AHEAD) break;
        answeredAhead.delete(oldest);
      }
      await Promise.all(deliveries.map((one) => one.done()));
    },
  };
}

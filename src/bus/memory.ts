/** The bus in memory: for the terminal and for tests. What is not done dies with the process. */

import { Buffer } from "node:buffer";
import type { Bus, InboundDelivery, OutboundDelivery } from "../core/bus.ts";
import { type InboundId, type InboundMessage, NOWHERE, type OutboundMessage } from "../core/messages.ts";
import { type BusLimits, createBounds, defaultLimits, type Free } from "./bounds.ts";
import { createFeed } from "./feed.ts";
import { createOnce, type Once } from "./once.ts";
import { nextResumes, type Resumes } from "./resumes.ts";

/** Ids remembered after their message is done. */
const SEEN = 100_000;
/** Turns whose text is being shown, each forgotten with its final. */
const STREAMS = 10_000;

function sizeOf(message: InboundMessage | OutboundMessage): number {
  return Buffer.byteLength(JSON.stringify(message));
}

function forgetOldest(kept: Set<string> | Map<string, unknown>, most: number): void {
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}

/** Remembers the newest ids. */
function createRememberingOnce(): Once {
  const seen = new Set<string>();
  const once = createOnce((id) => seen.has(id));
  return (id, signal, put) =>
    once(id, signal, async () => {
      const isPut = await put();
      seen.add(id);
      forgetOldest(seen, SEEN);
      return isPut;
    });
}

export interface MemoryBus extends Bus {
  /** Resolves when all that was put is done, in both directions; at once when it is. */
  quiet(): Promise<void>;
  isQuiet(): boolean;
}

export function createMemoryBus(limits: BusLimits = defaultLimits): MemoryBus {
  const inboundBounds = createBounds(limits);
  const outboundBounds = createBounds(limits);
  const inbound = createFeed<InboundDelivery>();
  const outbound = createFeed<OutboundDelivery>();
  const onceInbound = createRememberingOnce();
  const onceOutbound = createRememberingOnce();
  const streams = new Map<InboundId, string>();
  const pending = new Set<InboundId>();
  let undelivered = 0;
  const waiting = new Set<() => void>();
  const isQuiet = () => pending.size === 0 && undelivered === 0;

  function wakeWhenQuiet(): void {
    if (!isQuiet()) return;
    for (const wake of waiting) wake();
    waiting.clear();
  }

  function pushInbound(message: InboundMessage, free: Free): void {
    let resumes: Resumes | undefined;
    pending.add(message.id);
    inbound.push({
      message,
      isRedelivered: false,
      async resume(progress) {
        resumes = nextResumes(resumes, progress);
        return resumes.count;
      },
      async done() {
        pending.delete(message.id);
        free();
        wakeWhenQuiet();
      },
    });
  }

  function pushOutbound(message: OutboundMessage, free: Free): void {
    const sent: string[] = [];
    let isOver = false;
    undelivered++;
    const finish = async () => {
      if (!isOver) undelivered--;
      isOver = true;
      free();
      if (message.kind === "final") for (const turn of message.answers) streams.delete(turn);
      wakeWhenQuiet();
    };
    outbound.push({
      message,
      sent,
      get isOver() {
        return isOver;
      },
      part: async (messageId) => void sent.push(messageId),
      done: finish,
      failed: finish,
    });
  }

  async function putInbound(message: InboundMessage, signal: AbortSignal): Promise<boolean> {
    const bytes = sizeOf(message);
    // At once where that is possible, so that messages stand in the order of the calls.
    pushInbound(message, inboundBounds.tryTake("", bytes) ?? (await inboundBounds.take("", bytes, signal)));
    return true;
  }

  async function putOutbound(message: OutboundMessage, signal: AbortSignal): Promise<boolean> {
    const { channel } = message;
    const bytes = sizeOf(message);
    const free = outboundBounds.tryTake(channel, bytes);
    pushOutbound(message, free ?? (await outboundBounds.take(channel, bytes, signal)));
    return true;
  }

  return {
    async publishInbound(message, signal) {
      signal.throwIfAborted();
      return onceInbound(message.id, signal, () => putInbound(message, signal));
    },

    async publishOutbound(message, signal) {
      signal.throwIfAborted();
      if (message.kind !== "final") return putOutbound(message, signal);
      return onceOutbound(message.id, signal, async () => {
        return message.channel === NOWHERE || putOutbound(message, signal);
      });
    },

    inbound: (signal) => inbound.items(signal),
    isPending: (id) => pending.has(id),
    isQuiet,
    async quiet() {
      if (!isQuiet()) await new Promise<void>((resolve) => waiting.add(resolve));
    },
    outbound: (signal) => outbound.items(signal),
    openStream: (turn) => streams.get(turn),
    async recordStream(turn, messageId) {
      streams.delete(turn);
      if (messageId === undefined) return;
      streams.set(turn, messageId);
      forgetOldest(streams, STREAMS);
    },
  };
}

/** A bounded queue whose items count against the bound until they are done. */

import type { Delivery } from "../core/bus.ts";
import { abortable } from "../lib/abort.ts";

export interface QueueLimits {
  readonly messages: number;
  readonly bytes: number;
}

export interface Queue<Message> {
  /** Waits for room, in the order of the calls; rejects with the signal's reason, and then nothing was put. */
  put(message: Message, bytes: number, signal: AbortSignal): Promise<void>;
  /** One consumer only. Ends when `signal` aborts. */
  deliveries(signal: AbortSignal): AsyncGenerator<Delivery<Message>>;
}

interface Share {
  messages: number;
  bytes: number;
  /** Puts that wait for room, and the end of the last of them. */
  waiting: number;
  last: Promise<void>;
  /** Tells the first of them that something is done. */
  onFreed: () => void;
}

/** `share` names the part of the queue whose bound a message counts against. */
export function createQueue<Message>({
  limits,
  share,
}: {
  limits: QueueLimits;
  share: (message: Message) => string;
}): Queue<Message> {
  const shares = new Map<string, Share>();
  const items: { message: Message; free: () => void }[] = [];
  let wakeConsumer: (() => void) | undefined;
  let consumed = false;

  function shareOf(message: Message): Share {
    const name = share(message);
    const known = shares.get(name) ?? {
      messages: 0,
      bytes: 0,
      waiting: 0,
      last: Promise.resolve(),
      onFreed: () => {},
    };
    shares.set(name, known);
    return known;
  }

  // A message larger than the whole bound still passes when it is alone.
  function hasRoom(part: Share, bytes: number): boolean {
    return part.messages === 0 || (part.messages < limits.messages && part.bytes + bytes <= limits.bytes);
  }

  function add(part: Share, message: Message, bytes: number): void {
    part.messages++;
    part.bytes += bytes;
    let freed = false;
    const free = () => {
      if (freed) return;
      freed = true;
      part.messages--;
      part.bytes -= bytes;
      part.onFreed();
    };
    items.push({ message, free });
    wakeConsumer?.();
  }

  async function addWhenRoom(
    part: Share,
    message: Message,
    bytes: number,
    signal: AbortSignal,
  ): Promise<void> {
    await abortable(part.last, signal);
    while (!hasRoom(part, bytes)) {
      await abortable(new Promise<void>((resolve) => (part.onFreed = resolve)), signal);
    }
    add(part, message, bytes);
  }

  return {
    async put(message, bytes, signal) {
      const part = shareOf(message);
      if (part.waiting === 0 && hasRoom(part, bytes)) return add(part, message, bytes);
      part.waiting++;
      const added = addWhenRoom(part, message, bytes, signal);
      part.last = Promise.allSettled([part.last, added]).then(() => {
        part.waiting--;
      });
      return added;
    },

    async *deliveries(signal) {
      if (consumed) throw new Error("The queue has a consumer already");
      consumed = true;
      const onAbort = () => wakeConsumer?.();
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        while (!signal.aborted) {
          const item = items.shift();
          if (item) yield { message: item.message, done: async () => item.free() };
          else await new Promise<void>((resolve) => (wakeConsumer = resolve));
        }
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
  };
}

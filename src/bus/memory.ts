/** The bus in memory: for the terminal and for tests. What is not done dies with the process. */

import { Buffer } from "node:buffer";
import type { Bus } from "../core/bus.ts";
import type { InboundMessage, OutboundMessage } from "../core/messages.ts";
import { createQueue, type QueueLimits } from "./queue.ts";

/** Ids remembered after their message is done. */
const SEEN = 100_000;

const defaults: QueueLimits = { messages: 10_000, bytes: 64 * 1024 * 1024 };

function sizeOf(message: InboundMessage | OutboundMessage): number {
  return Buffer.byteLength(JSON.stringify(message));
}

/** Puts each id once; a put that fails leaves its id unknown. Remembers the newest ids. */
function createOnce(): (id: string, put: () => Promise<void>) => Promise<boolean> {
  const seen = new Set<string>();
  return async (id, put) => {
    if (seen.has(id)) return false;
    seen.add(id);
    const [oldest] = seen;
    if (seen.size > SEEN && oldest !== undefined) seen.delete(oldest);
    try {
      await put();
      return true;
    } catch (error) {
      seen.delete(id);
      throw error;
    }
  };
}

export function createMemoryBus(limits: QueueLimits = defaults): Bus {
  const inbound = createQueue<InboundMessage>({ limits, share: () => "inbound" });
  // A channel that takes nothing fills its own share only.
  const outbound = createQueue<OutboundMessage>({ limits, share: ({ channel }) => channel });
  const onceInbound = createOnce();
  const onceOutbound = createOnce();

  return {
    async publishInbound(message, signal) {
      signal.throwIfAborted();
      return onceInbound(message.id, () => inbound.put(message, sizeOf(message), signal));
    },

    async publishOutbound(message, signal) {
      signal.throwIfAborted();
      const put = () => outbound.put(message, sizeOf(message), signal);
      if (message.kind === "final") return onceOutbound(message.id, put);
      await put();
      return true;
    },

    inbound: (signal) => inbound.deliveries(signal),
    outbound: (signal) => outbound.deliveries(signal),
  };
}

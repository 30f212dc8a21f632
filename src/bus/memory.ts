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
  /** Whether the put got through, known or not yet: who comes second with an id has to wait for that. */
  const seen = new Map<string, Promise<boolean>>();

  return async (id, put) => {
    for (let before = seen.get(id); before !== undefined; before = seen.get(id)) {
      if (await before) return false;
    }
    const putting = put();
    const forget = () => {
      seen.delete(id);
      return false;
    };
    seen.set(
      id,
      putting.then(() => true, forget),
    );
    const [oldest] = seen.keys();
    if (seen.size > SEEN && oldest !== undefined) seen.delete(oldest);
    await putting;
    return true;
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

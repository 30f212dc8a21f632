/** An agent that is loaded with its first message, so that a gateway nobody talks to stays small. */

import type { Dispatch } from "../../agent/dispatch.ts";
import type { Bus, InboundDelivery } from "../../core/bus.ts";

/** The same part of the gateway as `Dispatch.run`. `open` is given the bus to work on. */
export function createLateAgent(
  bus: Bus,
  open: (bus: Bus) => Promise<Dispatch>,
): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    const deliveries = bus.inbound(signal)[Symbol.asyncIterator]();
    const first = await deliveries.next();
    if (first.done === true) return;
    const dispatch = await open({ ...bus, inbound: () => startingWith(first.value, deliveries) });
    await dispatch.run(signal);
  };
}

async function* startingWith(
  first: InboundDelivery,
  rest: AsyncIterator<InboundDelivery>,
): AsyncGenerator<InboundDelivery> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

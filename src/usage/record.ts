/** A call to a model as it is recorded: for whom, what it used and what it cost. */

import type { ModelCall, ModelPrice, UsageRecord } from "../core/usage.ts";
import { priceOf } from "./price.ts";
import { usedBy } from "./used.ts";

export interface RecordOptions {
  /** By `provider/name` or `name`. */
  readonly prices: Readonly<Record<string, ModelPrice>>;
  /** When the call ended, in milliseconds since the epoch. */
  readonly now: number;
}

export function toRecord(call: ModelCall, { prices, now }: RecordOptions): UsageRecord {
  const { provider, model, caller, reply, latencyMs } = call;
  const { usage, estimated } = usedBy(call);
  const { cost: _, ...tokens } = usage;
  const cost = priceOf({ model, provider, usage, prices });
  return {
    time: new Date(now).toISOString(),
    session: caller?.sessionKey ?? "",
    // Whoever calls without a name does so for a person who waits.
    origin: caller?.origin ?? "chat",
    model,
    provider,
    ...tokens,
    latency_ms: latencyMs,
    ...(cost === undefined ? {} : { cost }),
    ...(estimated ? { estimated } : {}),
    ...(reply.ok ? {} : { failed: true }),
  };
}

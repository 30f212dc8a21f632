/** Runs the agent between one source and its sink, and delivers what it publishes in order. */

import type { Bus } from "../../core/bus.ts";
import type { Channel } from "../../core/channel.ts";
import type { FinalMessage, OutboundMessage } from "../../core/messages.ts";

export interface RunBehindOptions {
  readonly channel: Channel;
  readonly bus: Bus;
  /** Works until its signal aborts, and resolves when all is saved. */
  readonly agent: (signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Starts the channel and the agent, and ends both when the channel's source is at its end or `signal`
 * aborts. Resolves to the outcome of the last final message; rejects when one of the parts fails.
 */
export async function runBehind({
  channel,
  bus,
  agent,
  signal,
}: RunBehindOptions): Promise<FinalMessage["outcome"] | undefined> {
  let outcome: FinalMessage["outcome"] | undefined;
  const agentEnd = new AbortController();
  const deliveryEnd = new AbortController();

  /** Whole: only channels without a limit are run like this. */
  async function present(message: OutboundMessage): Promise<void> {
    if (message.kind !== "final") {
      await channel.show?.(message, deliveryEnd.signal);
      return;
    }
    const { chatId, content, id } = message;
    const text = { kind: "text", text: content, isPlain: false } as const;
    await channel.send({ message, index: 0, key: id, chatId, content: text }, deliveryEnd.signal);
  }

  async function deliver(): Promise<void> {
    for await (const { message, done } of bus.outbound(deliveryEnd.signal)) {
      await present(message);
      if (message.kind === "final" && message.answers.length > 0) outcome = message.outcome;
      await done();
    }
  }

  const working = agent(AbortSignal.any([signal, agentEnd.signal]));
  const delivering = deliver();
  try {
    // The agent ends before its source only by failing, or because all was told to end.
    await Promise.race([channel.start(signal), delivering, working]);
  } finally {
    agentEnd.abort();
    await Promise.allSettled([working]);
    deliveryEnd.abort();
    await channel.stop();
  }
  await Promise.all([working, delivering]);
  return outcome;
}

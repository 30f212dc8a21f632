/** Sees to it that an answer is put, however long nothing can be written. */

import type { InboundDelivery } from "../core/bus.ts";
import type { InboundId } from "../core/messages.ts";
import type { AgentDeps } from "./deps.ts";
import type { TurnPort, TurnStatus } from "./running-turn.ts";
import { runTurn } from "./turn.ts";

/** When it is tried again: the disk may have room then. */
const AGAIN_MS = [5_000, 30_000, 120_000];
const AGAIN_LATER_MS = 600_000;

/** Runs a turn. It is taken up again as after a crash: what is in the session is not done twice. */
export async function runUntilAnswered(
  delivery: InboundDelivery,
  deps: AgentDeps,
  signal: AbortSignal,
  port: Pick<TurnPort, "rejoin" | "join">,
): Promise<TurnStatus> {
  const { message, isRedelivered } = delivery;
  const turn = (attempt: number) =>
    runTurn(message, deps, signal, {
      ...port,
      isRedelivered: isRedelivered || attempt > 0,
      // That the disk is full says nothing against the message.
      resume: async (progress) => (attempt > 0 ? 1 : delivery.resume(progress)),
    });
  return (await persistently(turn, { deps, signal, turn: message.id })) ?? "stopped";
}

/** Does `work` until it succeeds. `undefined` when `signal` aborts before that. */
export async function persistently<T>(
  work: (attempt: number) => Promise<T>,
  { deps, signal, turn }: { deps: Pick<AgentDeps, "clock" | "log">; signal: AbortSignal; turn: InboundId },
): Promise<T | undefined> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      deps.log.error("An answer could not be put", { turn, error });
    }
    try {
      await deps.clock.sleep(AGAIN_MS[attempt] ?? AGAIN_LATER_MS, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }
}

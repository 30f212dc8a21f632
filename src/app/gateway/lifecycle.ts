/** The order in which the parts of a gateway begin and end, so that nothing that was taken in is lost at the end. */

import type { Clock, Log } from "../../core/platform.ts";
import { aborted } from "../../lib/abort.ts";

/** A part works until its signal aborts, and resolves when it has put everything away. */
type Part = (signal: AbortSignal) => Promise<void>;

export interface LifecycleParts {
  /** Take in what comes. */
  readonly intake: Part;
  /** Answers it; at its end it gives running turns their time. */
  readonly agent: Part;
  /** Brings the answers out. */
  readonly delivery: Part;
  /** Resolves when nothing waits to be delivered; rejects when `signal` aborts before. */
  readonly delivered: (signal: AbortSignal) => Promise<void>;
  readonly clock: Pick<Clock, "after" | "elapsed">;
  readonly log: Log;
  /** For turns and answers together. */
  readonly drainMs: number;
}

/** What answers may take at the end, when the turns have used all of the time. */
const LEAST_FLUSH_MS = 1_000;
/** And when there is more. They are kept, so that a platform that is down need not hold up the end. */
const LONGEST_FLUSH_MS = 5_000;

/** Works until `signal` aborts. Rejects when a part fails or ends before it is told to, after the others have ended. */
export async function runParts(
  { intake, agent, delivery, delivered, clock, log, drainMs }: LifecycleParts,
  signal: AbortSignal,
): Promise<void> {
  const ends = {
    intake: new AbortController(),
    agent: new AbortController(),
    delivery: new AbortController(),
  };
  const running = {
    intake: intake(ends.intake.signal),
    agent: agent(ends.agent.signal),
    delivery: delivery(ends.delivery.signal),
  };
  const tooEarly = Object.entries(running).map(async ([name, part]) => {
    await part;
    if (!signal.aborted) throw new Error(`The ${name} of the gateway ended by itself`);
  });
  // Whoever loses the race below may reject later, and is looked at in the end.
  for (const part of tooEarly) part.catch(() => {});
  let failure: { readonly error: unknown } | undefined;
  try {
    await Promise.race([aborted(signal), ...tooEarly]);
  } catch (error) {
    failure = { error };
    log.error("The gateway ends, because a part of it failed", { error });
  }
  const began = clock.elapsed();
  ends.intake.abort();
  ends.agent.abort();
  await Promise.allSettled([running.intake, running.agent]);
  const flush = new AbortController();
  const leftMs = drainMs - (clock.elapsed() - began);
  const flushMs = Math.max(LEAST_FLUSH_MS, Math.min(leftMs, LONGEST_FLUSH_MS));
  const callOff = clock.after(flushMs, () => flush.abort());
  try {
    await delivered(flush.signal);
  } catch (error) {
    if (!flush.signal.aborted) throw error;
    log.info("Some answers are kept for the next start");
  } finally {
    callOff();
  }
  ends.delivery.abort();
  const settled = await Promise.allSettled(Object.values(running));
  failure ??= settled.flatMap((end) =>
    end.status === "rejected" ? [{ error: end.reason as unknown }] : [],
  )[0];
  if (failure !== undefined) throw failure.error;
}

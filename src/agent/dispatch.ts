/** Takes messages from the bus and gives each session its own lane; `/stop` acts at once. */

import type { Delivery } from "../core/bus.ts";
import { Stopped } from "../core/errors.ts";
import type { TurnEnded } from "../core/events.ts";
import type { InboundMessage } from "../core/messages.ts";
import { createLanes } from "../lib/lanes.ts";
import { chatCommand } from "./commands.ts";
import type { AgentDeps } from "./deps.ts";
import { publishFinal, runTurn } from "./turn.ts";

/** Turns at once, over all sessions. Sessions do not wait for each other below it. */
const MAX_TURNS = 1_000;

export interface Dispatch {
  /**
   * Works until `signal` aborts, then stops what runs and resolves when all of it is saved. Messages that
   * were not finished stay undone on the bus.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** A turn that waits in its lane or runs. */
interface Job {
  readonly delivery: Delivery<InboundMessage>;
  readonly abort: AbortController;
  readonly settled: Promise<TurnEnded["status"]>;
}

export function createDispatch(deps: AgentDeps & { onTurnEnded?: (event: TurnEnded) => void }): Dispatch {
  const { clock, log, onTurnEnded = () => {} } = deps;
  const lanes = createLanes({ limit: MAX_TURNS });
  const jobs = new Map<string, Set<Job>>();
  const startedAt = clock.now();

  function startJob(delivery: Delivery<InboundMessage>): void {
    const { message } = delivery;
    const abort = new AbortController();
    const settled = lanes.run(message.sessionKey, () => runJob(delivery, abort.signal));
    const job: Job = { delivery, abort, settled };
    const ofSession = jobs.get(message.sessionKey) ?? new Set();
    jobs.set(message.sessionKey, ofSession.add(job));
    settled
      .catch((error: unknown) => log.error("Turn could not be ended", { turn: message.id, error }))
      .finally(() => {
        ofSession.delete(job);
        if (ofSession.size === 0 && jobs.get(message.sessionKey) === ofSession)
          jobs.delete(message.sessionKey);
      });
  }

  async function runJob(
    delivery: Delivery<InboundMessage>,
    signal: AbortSignal,
  ): Promise<TurnEnded["status"]> {
    const began = clock.now();
    const status = signal.aborted ? "stopped" : await runTurn(delivery.message, deps, signal);
    // Whoever stopped it also answers it and marks it done.
    if (status !== "stopped") await delivery.done();
    onTurnEnded({
      type: "turn.ended",
      inboundId: delivery.message.id,
      status,
      durationMs: clock.now() - began,
    });
    return status;
  }

  /** Stops all jobs of a session; resolves, when they are saved, to those that gave no answer of their own. */
  async function stopJobs(sessionKey: string): Promise<readonly Delivery<InboundMessage>[]> {
    const found = [...(jobs.get(sessionKey) ?? [])];
    for (const { abort } of found) abort.abort(new Stopped("user"));
    const statuses = await Promise.allSettled(found.map(({ settled }) => settled));
    return found
      .filter((_, index) => {
        const status = statuses[index];
        return status?.status === "fulfilled" && status.value === "stopped";
      })
      .map(({ delivery }) => delivery);
  }

  async function runCommand(
    delivery: Delivery<InboundMessage>,
    command: NonNullable<ReturnType<typeof chatCommand>>,
  ): Promise<void> {
    const { message } = delivery;
    const began = clock.now();
    const taken: Delivery<InboundMessage>[] = [];
    const content = await command({
      deps,
      message,
      startedAt,
      active: () => [...jobs.values()].reduce((sum, ofSession) => sum + ofSession.size, 0),
      async stopSession() {
        taken.push(...(await stopJobs(message.sessionKey)));
        return taken.length;
      },
      inLane: (task) => lanes.run(message.sessionKey, task),
    });
    const answers = taken.map((stoppedDelivery) => stoppedDelivery.message.id);
    await publishFinal(message, deps, { outcome: "command", content, answers });
    for (const finished of [delivery, ...taken]) await finished.done();
    onTurnEnded({
      type: "turn.ended",
      inboundId: message.id,
      status: "command",
      durationMs: clock.now() - began,
    });
  }

  /** Commands that run beside the lanes. */
  const commands = new Set<Promise<void>>();

  function startCommand(
    delivery: Delivery<InboundMessage>,
    command: NonNullable<ReturnType<typeof chatCommand>>,
  ) {
    const running = runCommand(delivery, command)
      .catch(async (error: unknown) => {
        log.error("Command failed", { command: delivery.message.content, error });
        const content = error instanceof Error ? error.message : String(error);
        await publishFinal(delivery.message, deps, { outcome: "error", content });
        await delivery.done();
      })
      .finally(() => commands.delete(running));
    commands.add(running);
  }

  return {
    async run(signal) {
      for await (const delivery of deps.bus.inbound(signal)) {
        const command = chatCommand(delivery.message);
        if (command === undefined) startJob(delivery);
        else startCommand(delivery, command);
      }
      for (const ofSession of jobs.values())
        for (const { abort } of ofSession) abort.abort(new Stopped("shutdown"));
      await lanes.idle();
      await Promise.all(commands);
    },
  };
}

/** Takes messages from the bus and gives each session its own lane; chat commands act outside the lanes. */

import type { Delivery } from "../core/bus.ts";
import { Stopped, UserError } from "../core/errors.ts";
import type { TurnEnded } from "../core/events.ts";
import type { InboundMessage } from "../core/messages.ts";
import { createLanes } from "../lib/lanes.ts";
import { problemOf } from "../lib/phrases.ts";
import { chatCommand, type RunCommand } from "./commands.ts";
import type { AgentDeps } from "./deps.ts";
import { publishFinal } from "./publish.ts";
import { runTurn } from "./turn.ts";

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

/** What turns of a session left running. */
export interface LeftRunning {
  count(sessionKey: string): Promise<number>;
  /** Ends all of it, and resolves to how much that was. */
  end(sessionKey: string): Promise<number>;
}

interface DispatchDeps extends AgentDeps {
  readonly onTurnEnded?: (event: TurnEnded) => void;
  /** Left out where turns leave nothing. */
  readonly leftRunning?: LeftRunning;
}

const nothing: LeftRunning = { count: async () => 0, end: async () => 0 };

export function createDispatch(deps: DispatchDeps): Dispatch {
  const { clock, log, onTurnEnded = () => {}, leftRunning = nothing } = deps;
  const lanes = createLanes({ limit: MAX_TURNS });
  /** By session. */
  const jobs = new Map<string, Set<Job>>();
  const commands = new Set<Promise<void>>();
  const ending = new AbortController();
  const startedAt = clock.now();

  function ended({ id }: InboundMessage, status: TurnEnded["status"], began: number): void {
    onTurnEnded({ type: "turn.ended", inboundId: id, status, durationMs: clock.now() - began });
  }

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
    ended(delivery.message, status, began);
    return status;
  }

  /** Stops all jobs of a session; resolves, when they are saved, to those that gave no answer of their own. */
  async function stopJobs(sessionKey: string): Promise<readonly Delivery<InboundMessage>[]> {
    const found = [...(jobs.get(sessionKey) ?? [])];
    for (const { abort } of found) abort.abort(new Stopped("user"));
    const settled = await Promise.allSettled(found.map((job) => job.settled));
    return found
      .filter((_, index) => {
        const result = settled[index];
        return result?.status === "fulfilled" && result.value === "stopped";
      })
      .map(({ delivery }) => delivery);
  }

  /** Its one final message also answers the turns it stopped, whether it succeeds or fails. */
  async function answerCommand(delivery: Delivery<InboundMessage>, command: RunCommand): Promise<void> {
    const { message } = delivery;
    const began = clock.now();
    const taken: Delivery<InboundMessage>[] = [];
    const reply = await command({
      deps,
      message,
      signal: ending.signal,
      startedAt,
      active: () => [...jobs.values()].reduce((sum, ofSession) => sum + ofSession.size, 0),
      leftRunning: () => leftRunning.count(message.sessionKey),
      async stopSession() {
        const stopped = await stopJobs(message.sessionKey);
        taken.push(...stopped);
        return stopped.length + (await leftRunning.end(message.sessionKey));
      },
      inLane: (task) => lanes.run(message.sessionKey, task),
    }).then(
      (content) => ({ outcome: "command", content }) as const,
      (error: unknown) => {
        // What the user can mend is told to the user alone.
        if (!(error instanceof UserError)) log.error("Command failed", { command: message.content, error });
        return { outcome: "error", content: problemOf(error) } as const;
      },
    );
    // At shutdown it is left for the next start, like a turn.
    if (reply.outcome === "error" && ending.signal.aborted) return;
    await publishFinal(message, deps, { ...reply, answers: taken.map((stopped) => stopped.message.id) });
    for (const finished of [delivery, ...taken]) await finished.done();
    ended(message, "command", began);
  }

  function startCommand(delivery: Delivery<InboundMessage>, command: RunCommand): void {
    const running = answerCommand(delivery, command)
      .catch((error: unknown) =>
        log.error("Command could not be ended", { turn: delivery.message.id, error }),
      )
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
      const reason = new Stopped("shutdown");
      ending.abort(reason);
      for (const ofSession of jobs.values()) for (const { abort } of ofSession) abort.abort(reason);
      await lanes.idle();
      await Promise.all(commands);
    },
  };
}

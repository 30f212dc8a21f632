/** Takes messages from the bus and gives each session its own lane; chat commands act outside the lanes. */

import type { InboundDelivery } from "../core/bus.ts";
import { Stopped, UserError } from "../core/errors.ts";
import type { TurnEnded } from "../core/events.ts";
import type { InboundMessage } from "../core/messages.ts";
import { type Aside, createLanes } from "../lib/lanes.ts";
import { problemOf } from "../lib/phrases.ts";
import type { Reply } from "./command-port.ts";
import { chatCommand, type RunCommand } from "./commands.ts";
import type { AgentDeps } from "./deps.ts";
import { createJobs, type Job, type Jobs } from "./jobs.ts";
import { publishFinal } from "./publish.ts";
import type { TurnStatus } from "./running-turn.ts";
import { persistently, runUntilAnswered } from "./until-answered.ts";

/** Turns at once, over all sessions. Sessions do not wait for each other below it. */
const MAX_TURNS = 1_000;

export interface Dispatch {
  /**
   * Works until `signal` aborts, gives what runs its time to end, then stops it and resolves when all of it is saved.
   * Messages that were not finished stay undone on the bus.
   */
  run(signal: AbortSignal): Promise<void>;
  readonly aside: Jobs["aside"];
}

/** What turns of a session left running. */
export interface LeftRunning {
  count(sessionKey: string): Promise<number>;
  /** Ends all of it, and resolves to how much that was. */
  end(sessionKey: string): Promise<number>;
}

export interface DispatchDeps extends AgentDeps {
  /** When the program began, if that was before. */
  readonly startedAt?: number;
  /** Turns at once. 0 is as many as there may be at all. */
  readonly maxTurns?: number;
  /** What becomes of a message that comes while a turn of its sender runs: it joins the turn, or waits. */
  readonly midTurn?: "steer" | "queue";
  /** What turns and commands that run get to come to their end at shutdown. */
  readonly drainMs?: number;
  /** Neither of the two may throw. */
  readonly onTurnStarted?: (message: InboundMessage) => void;
  readonly onTurnEnded?: (event: TurnEnded) => void;
  /** Left out where turns leave nothing. */
  readonly leftRunning?: LeftRunning;
}

const nothing: LeftRunning = { count: async () => 0, end: async () => 0 };

export function createDispatch(deps: DispatchDeps): Dispatch {
  const {
    clock,
    log,
    startedAt = clock.now(),
    maxTurns = 0,
    midTurn = "steer",
    drainMs = 0,
    onTurnStarted = () => {},
    onTurnEnded = () => {},
    leftRunning = nothing,
  } = deps;
  const lanes = createLanes({ limit: maxTurns > 0 ? Math.min(maxTurns, MAX_TURNS) : MAX_TURNS });
  const jobs = createJobs();
  /** The turn of the event loop in which the last job began. */
  let lastBegin: Promise<void> = Promise.resolve();
  /** Commands, and what else goes on outside the lanes. */
  const beside = new Set<Promise<void>>();
  const ending = new AbortController();
  let isClosing = false;

  function ended({ delivery, joined }: Job, status: TurnEnded["status"], began: number): void {
    for (const inboundId of [delivery.message.id, ...joined.keys()])
      onTurnEnded({ type: "turn.ended", inboundId, status, durationMs: clock.now() - began });
  }

  function startJob(delivery: InboundDelivery): void {
    const job = jobs.add(delivery);
    // The turn that it joined marks it done.
    if (job === "joined") return;
    if (job === "answered") goOn(delivery.done(), delivery.message);
    else startTurn(job);
  }

  function startTurn(job: Job): void {
    const { sessionKey, id } = job.delivery.message;
    lanes
      .run(sessionKey, (aside) => runJob(job, aside))
      .catch((error: unknown) => log.error("Turn could not be ended", { turn: id, error }))
      .finally(() => jobs.remove(job));
  }

  /**
   * One job begins in each turn of the event loop. However many wait, what comes in is taken in between: a platform
   * that is answered late sends everything again.
   */
  function itsTurn(): Promise<void> {
    lastBegin = lastBegin.then(() => clock.giveWay());
    return lastBegin;
  }

  async function runJob(job: Job, aside: Aside): Promise<void> {
    if (job.state !== "waiting") return;
    const began = clock.now();
    job.aside = aside;
    job.state = "running";
    await itsTurn();
    const status = isClosing ? "stopped" : await begin(job);
    // Whoever stopped it also answers it and marks it done.
    if (status !== "stopped") await finish(job);
    ended(job, status, began);
    job.settled.resolve(status);
  }

  function begin(job: Job): Promise<TurnStatus> {
    const { message } = job.delivery;
    if (message.kind === "message") onTurnStarted(message);
    return runUntilAnswered(job.delivery, deps, job.abort.signal, {
      rejoin: (ids) => jobs.rejoin(job, ids),
      join: (canJoin) => (midTurn === "queue" || isClosing || job.isTaken ? [] : jobs.join(job, canJoin)),
    });
  }

  /** What could not be recorded as done is known by its answer at the next start. */
  async function finish(job: Job): Promise<void> {
    try {
      await jobs.finish(job);
    } catch (error) {
      log.error("Message could not be marked done", { turn: job.delivery.message.id, error });
    }
  }

  /** Stops all turns of a session; resolves, when they are saved, to those that gave no answer of their own. */
  async function stopJobs(sessionKey: string): Promise<readonly Job[]> {
    // A note is for the history, and nobody waits for it.
    const found = jobs.of(sessionKey).filter(({ delivery }) => delivery.message.kind !== "note");
    for (const job of found) {
      job.isTaken = true;
      job.abort.abort(new Stopped("user"));
      if (job.state === "waiting") callOff(job);
    }
    const statuses = await Promise.all(found.map(({ settled }) => settled.promise));
    return found.filter((_, index) => statuses[index] === "stopped");
  }

  /** At once: its lane may be waiting for others still. */
  function callOff(job: Job): void {
    job.state = "gone";
    jobs.remove(job);
    ended(job, "stopped", clock.now());
    job.settled.resolve("stopped");
  }

  /** Its one final message also answers the turns it stopped, whether it succeeds or fails. */
  async function answerCommand(delivery: InboundDelivery, command: RunCommand): Promise<void> {
    const { message } = delivery;
    const began = clock.now();
    const taken: Job[] = [];
    const isAnswered = Promise.withResolvers<void>();
    try {
      const reply = await replyOf(delivery, command, { taken, isAnswered: isAnswered.promise });
      // At shutdown it is left for the next start, like a turn.
      if (reply.outcome === "error" && ending.signal.aborted) return;
      const answers = taken.flatMap((job) => [job.delivery.message.id, ...job.joined.keys()]);
      const { outcome, content, afterwards } = reply;
      const put = () => publishFinal(message, deps, { outcome, content, answers }).then(() => true);
      if (!(await persistently(put, { deps, signal: ending.signal, turn: message.id }))) return;
      isAnswered.resolve();
      await Promise.all([delivery.done(), ...taken.map(jobs.finish)]);
      onTurnEnded({
        type: "turn.ended",
        inboundId: message.id,
        status: "command",
        durationMs: clock.now() - began,
      });
      afterwards?.();
    } finally {
      isAnswered.resolve();
    }
  }

  async function replyOf(
    { message }: InboundDelivery,
    command: RunCommand,
    { taken, isAnswered }: { taken: Job[]; isAnswered: Promise<void> },
  ): Promise<Reply & { outcome: "command" | "error" }> {
    try {
      const reply = await command({
        deps,
        message,
        signal: ending.signal,
        startedAt,
        active: () => jobs.all().length,
        leftRunning: () => leftRunning.count(message.sessionKey),
        async stopSession() {
          const stopped = await stopJobs(message.sessionKey);
          taken.push(...stopped);
          const tasks = (await deps.services.tasks?.stop(message.sessionKey)) ?? 0;
          return stopped.length + tasks + (await leftRunning.end(message.sessionKey));
        },
        inLane: (task) => runInLane(message.sessionKey, task, isAnswered),
      });
      return { outcome: "command", ...(typeof reply === "string" ? { content: reply } : reply) };
    } catch (error) {
      // What the user can mend is told to the user alone.
      if (!(error instanceof UserError)) log.error("Command failed", { command: message.content, error });
      return { outcome: "error", content: problemOf(error) };
    }
  }

  /**
   * The lane is kept until the command is answered: after a crash before that it would be run again, and must find what it
   * left.
   */
  function runInLane<T>(sessionKey: string, task: () => Promise<T>, isAnswered: Promise<void>): Promise<T> {
    const result = Promise.withResolvers<T>();
    const release = jobs.hold(sessionKey);
    goOn(
      lanes
        .run(sessionKey, async () => {
          await task().then(result.resolve, result.reject);
          await isAnswered;
        })
        .finally(release),
    );
    return result.promise;
  }

  /** Waits for `work` at shutdown. */
  function goOn(work: Promise<void>, message?: InboundMessage): void {
    const tracked = work
      .catch((error: unknown) => log.error("Message could not be ended", { turn: message?.id, error }))
      .finally(() => beside.delete(tracked));
    beside.add(tracked);
  }

  async function idle(): Promise<void> {
    await lanes.idle();
    while (beside.size > 0) await Promise.all(beside);
  }

  /** What runs may end by itself, for so long. What waits for a person cannot: no answer is taken in any more. */
  async function drain(reason: Stopped): Promise<void> {
    for (const { waits, abort } of jobs.all()) if (waits > 0) abort.abort(reason);
    if (drainMs <= 0) return;
    await new Promise<void>((resolve) => {
      const callOff = clock.after(drainMs, resolve);
      void idle().then(() => {
        callOff();
        resolve();
      });
    });
  }

  return {
    async run(signal) {
      for await (const delivery of deps.bus.inbound(signal)) {
        const command = chatCommand(delivery.message);
        if (command === undefined) startJob(delivery);
        else goOn(answerCommand(delivery, command), delivery.message);
      }
      isClosing = true;
      const reason = new Stopped("shutdown");
      await drain(reason);
      ending.abort(reason);
      for (const { abort } of jobs.all()) abort.abort(reason);
      await idle();
    },

    aside: jobs.aside,
  };
}

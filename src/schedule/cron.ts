/** Keeps the time of all jobs: puts each slot on the bus once, and records what became of it. */

import type { FindOwner } from "../core/access.ts";
import type { BackgroundPause } from "../core/background.ts";
import type { Bus } from "../core/bus.ts";
import { UserError } from "../core/errors.ts";
import type { TurnEnded } from "../core/events.ts";
import type { Clock, Log } from "../core/platform.ts";
import type { Job, JobRun, Route } from "../core/schedule.ts";
import { never } from "../lib/abort.ts";
import { quote } from "../lib/file-error.ts";
import { isMissed, madeUpWithinMs } from "../lib/missed-slots.ts";
import { JOB_SKIPPED } from "../lib/phrases.ts";
import { createAlarm } from "./alarm.ts";
import { createDamageNotice } from "./damage-notice.ts";
import { jobMessage, slotId, slotOf } from "./job-message.ts";
import { createOutcomes } from "./job-outcomes.ts";
import { createJobRecords } from "./job-records.ts";
import { createJobRoute } from "./job-route.ts";
import type { JobsStore } from "./jobs.ts";
import { createMissedJobs } from "./missed-jobs.ts";
import { createRunAllowance, type RunAllowanceOptions } from "./run-allowance.ts";
import { dueOf, type Look, passed, type WatchedJob, watchJob } from "./watched-job.ts";

const MINUTE_MS = 60_000;
/** Somebody who edits the file by hand waits and looks. */
const POLL_MS = MINUTE_MS / 2;
const SHORTEST_WAIT_MS = 20;
/** Between two that are made up for: after a long time off, all jobs have missed one, and would begin at once. */
const MAKE_UP_EVERY_MS = 5_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = MINUTE_MS;

export interface CronOptions extends RunAllowanceOptions {
  readonly jobs: JobsStore;
  readonly bus: Pick<Bus, "publishInbound" | "isPending">;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly log: Log;
  /** The agent's. */
  readonly timeZone: string;
  /** How often the file is looked at when no job is due before, in milliseconds. */
  readonly pollMs?: number;
  readonly pause: Pick<BackgroundPause, "leftMs">;
  readonly findOwner: FindOwner;
  /** Whether messages can be sent by a channel of this name here. */
  readonly isChannel: (name: string) => boolean;
  /** Once for each `id`. */
  readonly tellOwner: (text: string, id: string) => Promise<void>;
}

export interface Cron {
  /** Keeps the time until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Puts a run of now, whatever the schedule says, with `force` also of a job that is disabled. Resolves, to `true`,
   * when it is safe with the bus. Throws a `UserError` for a job that does not exist, is disabled, or runs.
   */
  runNow(id: string, options: { readonly force: boolean }): Promise<true>;
  /** Looks at the file at once. */
  reload(): void;
  /** Ignores turns of others. Never throws. */
  turnEnded(event: TurnEnded): void;
  /** Of messages with the origin `cron`. */
  readonly route: Route;
  /** Resolves when what is known is recorded, or could not be. Never rejects. */
  flush(): Promise<void>;
}

export function createCron(options: CronOptions): Cron {
  const { jobs, bus, clock, log, timeZone, pause, pollMs = POLL_MS } = options;
  const records = createJobRecords(options);
  const route = createJobRoute(options);
  /** `undefined` until the file was looked at for the first time. */
  let watched: Map<string, WatchedJob> | undefined;
  /** What this process put, or found under way, and has not ended. */
  const running = new Set<string>();
  const allowance = createRunAllowance(options);
  const outcomes = createOutcomes();
  const alarm = createAlarm({ clock, shortestMs: SHORTEST_WAIT_MS, longestMs: pollMs });
  const missed = createMissedJobs({ ...options, onTold: alarm.wake });
  const noticeDamage = createDamageNotice(options);
  let retryMs = 0;
  /** When a slot was last made up for. */
  let madeUpMs = Number.NEGATIVE_INFINITY;
  let isEnding = false;

  function lookAt(job: Job, look: Look): WatchedJob {
    const before = watched?.get(job.id) ?? (watched === undefined ? "start" : "new");
    let known = watchJob(job, look, before);
    // Put by a process that ended before it could say so in the file.
    while (
      before === "start" &&
      known.firstMs !== undefined &&
      bus.isPending(slotId(job.id, known.firstMs))
    ) {
      records.add({ kind: "put", jobId: job.id, slotMs: known.firstMs });
      known = { ...passed(known, known.firstMs, look), putMs: known.firstMs };
    }
    if (known.putMs !== undefined && before === "start") {
      const id = slotId(job.id, known.putMs);
      if (bus.isPending(id)) running.add(id);
    }
    return known;
  }

  function isRunning({ job, putMs }: WatchedJob): boolean {
    return putMs !== undefined && bus.isPending(slotId(job.id, putMs));
  }

  function leaveOut(jobId: string, slotMs: number, error: string): void {
    const run: JobRun = { runAtMs: slotMs, status: "skipped", durationMs: 0, error };
    records.add({ kind: "skipped", jobId, slotMs, run });
  }

  /** Its slot came too soon after a run. Recorded once for each, however many slots that lasts. */
  function tooSoon(known: WatchedJob, slotMs: number, look: Look, error: string): WatchedJob {
    const { job, putMs } = known;
    const last = job.runs.at(-1);
    const isNoted = known.notedMs === putMs || (last?.status === "skipped" && last.runAtMs > (putMs ?? 0));
    if (!isNoted) leaveOut(job.id, slotMs, error);
    return { ...passed(known, slotMs, look), notedMs: putMs };
  }

  async function put(job: Job, slotMs: number, signal: AbortSignal): Promise<boolean> {
    const message = jobMessage(job, slotMs, { nowMs: clock.now(), timeZone });
    const isNew = await bus.publishInbound(message, signal);
    if (isNew || bus.isPending(message.id)) running.add(message.id);
    records.add({ kind: "put", jobId: job.id, slotMs });
    return isNew;
  }

  /** A job of one time whose run ended without a word, because the process did. */
  function closeEnded(known: WatchedJob): WatchedJob {
    const { job, putMs } = known;
    const { schedule, enabled, id } = job;
    if (schedule.kind !== "at" || !enabled || putMs === undefined || putMs < schedule.atMs) return known;
    const slot = slotId(id, putMs);
    if (running.has(slot) || bus.isPending(slot)) return known;
    records.add({ kind: "ended", jobId: id, slotMs: putMs });
    return { ...known, putMs: undefined };
  }

  /** What is known of the job after its slot was dealt with; the same when it has to wait. */
  async function dealWith(known: WatchedJob, look: Look, signal: AbortSignal): Promise<WatchedJob> {
    const { job } = known;
    const slotMs = dueOf(known, look);
    if (slotMs === undefined || pause.leftMs() > 0) return known;
    if (isRunning(known))
      return job.schedule.kind === "at" ? known : tooSoon(known, slotMs, look, JOB_SKIPPED.overlap);
    const lateMs = look.nowMs - slotMs;
    const isLate = isMissed(lateMs);
    if (lateMs > madeUpWithinMs(job)) {
      if (job.schedule.kind === "at" && !missed.isTold(job, slotMs)) return known;
      log.warn("A run of a job was missed", { job: job.id, due: new Date(slotMs).toISOString() });
      leaveOut(job.id, slotMs, JOB_SKIPPED.missed);
      return passed(known, slotMs, look);
    }
    // A clock that was put back holds up nothing.
    if (isLate && Math.abs(look.nowMs - madeUpMs) < MAKE_UP_EVERY_MS) return known;
    if (!(await allowance.allows(job))) return tooSoon(known, slotMs, look, JOB_SKIPPED.tooOften);
    await put(job, slotMs, signal);
    allowance.used(job.id);
    if (isLate) madeUpMs = look.nowMs;
    retryMs = 0;
    return { ...passed(known, slotMs, look), putMs: slotMs };
  }

  /** The next time to look: when something is due, or `undefined`. Deals with all that is due now. */
  async function look(signal: AbortSignal): Promise<number | undefined> {
    const { jobs: all, modifiedMs, damage } = await jobs.current();
    const now = new Map<string, WatchedJob>();
    let next = noticeDamage(damage, clock.now());
    const sooner = (ms: number) => {
      next = Math.min(next ?? ms, ms);
    };
    for (const job of all) {
      const seen: Look = { nowMs: clock.now(), modifiedMs, timeZone };
      let known = lookAt(job, seen);
      try {
        if (known.firstMs !== undefined && known.firstMs <= seen.nowMs)
          known = await dealWith(known, seen, signal);
      } catch (error) {
        if (signal.aborted) return undefined;
        if (retryMs === 0) log.error("A job could not be begun; it is tried again", { job: job.id, error });
        retryMs = Math.min(Math.max(FIRST_RETRY_MS, retryMs * 2), LAST_RETRY_MS);
        sooner(clock.now() + retryMs);
      }
      known = closeEnded(known);
      now.set(job.id, known);
      const isWaiting = known.firstMs !== undefined && known.firstMs <= seen.nowMs;
      if (job.enabled && known.firstMs !== undefined && !isWaiting) sooner(known.firstMs);
      if (isWaiting && madeUpMs + MAKE_UP_EVERY_MS > seen.nowMs) sooner(madeUpMs + MAKE_UP_EVERY_MS);
    }
    missed.tell();
    watched = now;
    if (pause.leftMs() > 0) sooner(clock.now() + pause.leftMs());
    await records.flush();
    return next;
  }

  return {
    async run(signal) {
      isEnding = false;
      const stop = jobs.onChange(alarm.wake);
      try {
        while (!signal.aborted) {
          let next: number | undefined;
          try {
            next = await look(signal);
          } catch (error) {
            log.error("The jobs could not be looked after; it is tried again", { error });
          }
          await alarm.waitUntil(next, signal);
        }
      } finally {
        isEnding = true;
        stop();
        await records.flush();
      }
    },

    async runNow(id, { force }) {
      const job = (await jobs.list()).find((other) => other.id === id);
      if (job === undefined) throw new UserError(`There is no job ${quote(id)}`);
      if (!job.enabled && !force) {
        throw new UserError(`Cannot run the job ${quote(id)}: it is disabled`, {
          hint: "Enable it, or run it all the same with --force",
        });
      }
      const nowMs = clock.now();
      const known = watched?.get(id);
      const before = known?.putMs ?? job.lastRunAtMs;
      const runs = before !== undefined && bus.isPending(slotId(id, before));
      if (runs || !(await put(job, nowMs, never)))
        throw new UserError(`Cannot run the job ${quote(id)}: it runs already`, { exitCode: 1 });
      if (known !== undefined) watched?.set(id, { ...known, putMs: nowMs });
      await records.flush();
      alarm.wake();
      return true;
    },

    reload: alarm.wake,

    turnEnded(event) {
      const slot = slotOf(event.inboundId);
      // At shutdown it is left for the next process.
      if (slot === undefined || (event.status === "stopped" && isEnding)) return;
      running.delete(event.inboundId);
      records.add({ kind: "ended", ...slot, run: outcomes.runOf(event, slot.slotMs) });
      void records.flush().then(alarm.wake);
    },

    async route(inbound, result, signal) {
      if (result.outcome === "error") outcomes.failed(inbound.id, result.content);
      return route(inbound, result, signal);
    },

    flush: () => records.flush(),
  };
}

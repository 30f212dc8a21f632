/** What a gateway does without being asked: jobs, the heartbeat, making memory, and tasks that an earlier process left. */

import type { AgentDeps } from "../../agent/deps.ts";
import type { FindOwner } from "../../core/access.ts";
import type { ModelChoice } from "../../core/app.ts";
import type { DurableBus } from "../../core/bus.ts";
import type { TurnEnded } from "../../core/events.ts";
import type { Log, Platform } from "../../core/platform.ts";
import type { RouteTarget } from "../../core/schedule.ts";
import type { Tasks } from "../../core/tasks.ts";
import { aborted, limitSignal } from "../../lib/abort.ts";
import { lazy } from "../../lib/lazy.ts";
import { join } from "../../lib/path.ts";
import type { Cron } from "../../schedule/cron.ts";
import type { Background } from "../background.ts";
import type { JobsPort } from "../jobs.ts";
import type { createMemory } from "../memory.ts";
import type { Settings } from "../settings.ts";
import { createNotes, noted } from "./notes.ts";

/** For a file of jobs that somebody makes by hand. */
const LOOK_FOR_JOBS_MS = 30_000;

/** When a part of it that failed begins again. */
const AGAIN_MS = 60_000;

export interface ScheduleParts {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
  readonly background: Background;
  readonly memory: ReturnType<typeof createMemory>;
  readonly jobs: JobsPort;
}

export interface ScheduleUse {
  readonly bus: DurableBus;
  readonly model: ModelChoice;
  readonly tasks: Tasks;
  readonly findOwner: FindOwner;
  /** Whether this gateway has a channel of that name. */
  readonly isChannel: (name: string) => boolean;
  /** The session that a chat talks in. */
  readonly sessionOf: (channel: string, chatId: string) => string;
  readonly mask: (text: string) => string;
}

export function createSchedule(
  { platform, settings, log, background, memory, jobs }: ScheduleParts,
  { bus, model, tasks, findOwner, isChannel, sessionOf, mask }: ScheduleUse,
) {
  const { files, clock, assets } = platform;
  const { pause, tellOwner } = background;

  const openCron = lazy(async (): Promise<Cron> => {
    const { createCron } = await import("../../schedule/cron.ts");
    const timeZone = await settings.timeZone();
    return createCron({
      jobs: await jobs.open(),
      bus,
      clock,
      log,
      timeZone,
      pause,
      limits: background.limits,
      findOwner,
      isChannel,
      tellOwner,
    });
  });
  /** As far as somebody has asked for it. */
  let opening: Promise<Cron | undefined> | undefined;
  const cron = (): Promise<Cron> => {
    const opened = openCron();
    // Whoever asked is told why there is none.
    opening = opened.catch(() => undefined);
    return opened;
  };

  const heartbeat = lazy(async () => {
    const { createHeartbeat } = await import("../../schedule/heartbeat.ts");
    const { workspace } = await settings.paths();
    const { intervalS } = (await settings.gateway()).heartbeat;
    return createHeartbeat({
      files,
      clock,
      log,
      workspace,
      template: () => assets.read("workspace", "HEARTBEAT.md"),
      bus,
      model: async () => model,
      findOwner,
      intervalMs: intervalS * 1_000,
      pause,
      timeZone: await settings.lateTimeZone(),
    });
  });

  const consolidation = lazy(() => memory.consolidation(model, { isPatient: true }));

  /** Where what is wanted cannot be, because chats share a session now or did then, the chat's own. */
  function sessionIn({ channel, chatId, sessionKey: wanted }: RouteTarget): string {
    const own = sessionOf(channel, chatId);
    const isOfChannel = (key: string) => key.startsWith(`${channel}:`);
    return wanted !== undefined && isOfChannel(wanted) && isOfChannel(own) ? wanted : own;
  }

  const notes = { putNote: createNotes({ bus, clock, mask }), sessionOf: sessionIn };

  /** What fails begins again: the gateway has more to do than that. */
  async function keep(name: string, work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) {
    while (!signal.aborted) {
      try {
        await work(signal);
      } catch (error) {
        if (signal.aborted) return;
        log.error("A part of the schedule failed, and begins again in a minute", { part: name, error });
      }
      await clock.sleep(AGAIN_MS, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  /** Of jobs nothing is loaded before there is one. */
  async function runJobs(signal: AbortSignal): Promise<void> {
    let isAsked = false;
    let wake = () => {};
    void jobs.opened.then(() => {
      isAsked = true;
      wake();
    });
    while (!isAsked && !(await jobs.mayExist())) {
      const limit = limitSignal(signal, { clock, ms: LOOK_FOR_JOBS_MS });
      wake = () => limit.abort();
      if (!isAsked) await aborted(limit.signal);
      limit.release();
      if (signal.aborted) return;
    }
    await (await cron()).run(signal);
  }

  async function recoverTasks(): Promise<void> {
    const { workspace } = await settings.paths();
    const left = await files.stat(join(workspace, ".nanobot", "tasks.json"));
    if (left !== undefined) await tasks.recover();
  }

  const later = (what: string, work: Promise<void>): void => {
    work.catch((error: unknown) => log.error("The schedule did not hear of something", { what, error }));
  };

  return {
    routes: {
      cron: noted(async (...asked) => (await cron()).route(...asked), notes),
      heartbeat: noted(async (...asked) => (await heartbeat()).route(...asked), notes),
    } satisfies AgentDeps["routes"],

    consolidation: {
      turnEnded: (session) =>
        later(
          "turn",
          consolidation().then((open) => open.turnEnded(session)),
        ),
      archived: (session) =>
        later(
          "archive",
          consolidation().then((open) => open.archived(session)),
        ),
    } satisfies AgentDeps["consolidation"],

    turnEnded(event: TurnEnded): void {
      if (event.inboundId.startsWith("cron:"))
        later(
          "job",
          cron().then((open) => open.turnEnded(event)),
        );
      if (event.inboundId.startsWith("heartbeat:"))
        later(
          "heartbeat",
          heartbeat().then((open) => open.turnEnded(event)),
        );
    },

    async run(signal: AbortSignal): Promise<void> {
      const { enabled } = (await settings.gateway()).heartbeat;
      await Promise.all([
        recoverTasks().catch((error: unknown) => log.error("Tasks of before are not reported", { error })),
        keep("cron", runJobs, signal),
        enabled ? keep("heartbeat", async (limit) => (await heartbeat()).run(limit), signal) : undefined,
        keep("memory", async (limit) => (await consolidation()).run(limit), signal),
      ]);
    },

    cron,
    heartbeat,

    /** Resolves when what is known of jobs is in their file, or could not be written. */
    flush: async () => (await opening)?.flush(),
  };
}

export type Schedule = ReturnType<typeof createSchedule>;

/** The service over a bus that forgets nothing, with a clock that a test moves. */

import type { BackgroundPause } from "../../src/core/background.ts";
import type { TurnEnded } from "../../src/core/events.ts";
import type { InboundId, InboundMessage } from "../../src/core/messages.ts";
import type { Job } from "../../src/core/schedule.ts";
import { createHourlyLimits } from "../../src/lib/hourly-limits.ts";
import { createCron } from "../../src/schedule/cron.ts";
import { createJobs, type JobsStore } from "../../src/schedule/jobs.ts";
import { createFakeClock, type FakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { createMemoryFiles } from "./memory-files.ts";

export const PATH = "/ws/cron/jobs.json";
/** 2026-11-30T09:00:00Z, a Monday. */
export const START = Date.UTC(2026, 10, 30, 9);
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface FixtureOptions {
  readonly start?: number;
  readonly timeZone?: string;
  /** Turns end at once, unless a test ends them by itself. */
  readonly endsTurns?: boolean;
  readonly clock?: FakeClock;
  readonly pollMs?: number;
  /** How often a job may run in an hour. */
  readonly tasksPerHour?: number;
}

/** What the gateway puts between the two: every turn is done when it was put, or when a test says so. */
function createTurns(endsTurns: boolean) {
  const put: InboundMessage[] = [];
  const known = new Set<string>();
  const pending = new Set<string>();
  let problem: Error | undefined;
  let refused = 0;
  let onEnd: (event: TurnEnded) => void = () => {};

  function end(id: string, status: TurnEnded["status"] = "answered", durationMs = 0): void {
    pending.delete(id);
    onEnd({ type: "turn.ended", inboundId: id as InboundId, status, durationMs });
  }

  return {
    put,
    known,
    pending,
    /** How often a message came a second time. */
    refused: () => refused,
    end,
    listen(listener: (event: TurnEnded) => void): void {
      onEnd = listener;
    },
    fail(error?: Error): void {
      problem = error;
    },
    bus: {
      async publishInbound(message: InboundMessage): Promise<boolean> {
        if (problem !== undefined) throw problem;
        if (known.has(message.id)) {
          refused++;
          return false;
        }
        known.add(message.id);
        put.push(message);
        if (!endsTurns) pending.add(message.id);
        else queueMicrotask(() => end(message.id));
        return true;
      },
      isPending: (id: InboundId) => pending.has(id),
    },
  };
}

export function setUp({
  start = START,
  timeZone = "UTC",
  endsTurns = true,
  clock = createFakeClock(start),
  pollMs,
  tasksPerHour = 1_000_000,
}: FixtureOptions = {}) {
  const log = createFakeLog();
  const files = createMemoryFiles(clock.now);
  const turns = createTurns(endsTurns);
  const channels = new Set(["telegram"]);
  let pausedUntil = 0;
  const pause: Pick<BackgroundPause, "leftMs"> = { leftMs: () => Math.max(0, pausedUntil - clock.now()) };
  const told = new Map<string, string>();
  const exceeded: string[] = [];
  let tellProblem: Error | undefined;
  let owner: { channel: string; chatId: string } | undefined = { channel: "telegram", chatId: "owner" };
  let ids = 0;

  function openJobs(): JobsStore {
    return createJobs({
      files: files.system,
      locks: {
        acquire: async () => ({ release: async () => {} }),
        tryAcquire: async () => ({ release: async () => {} }),
      },
      clock,
      ids: { next: () => `0000${(++ids).toString().padStart(8, "0")}` },
      log,
      workspace: "/ws",
      legacyFile: undefined,
      timeZone,
      mostJobs: 100,
    });
  }

  /** A process: it looks at the file anew, and ends when it is told to. */
  async function begin() {
    const jobs = openJobs();
    const limits = createHourlyLimits({
      clock,
      tasks: tasksPerHour,
      onExceeded: (what, sessionKey) => void exceeded.push(`${what} ${sessionKey}`),
    });
    const cron = createCron({
      jobs,
      bus: turns.bus,
      clock,
      log,
      timeZone,
      ...(pollMs === undefined ? {} : { pollMs }),
      pause,
      limits: async () => limits,
      findOwner: async () => owner,
      isChannel: (name) => channels.has(name),
      async tellOwner(text, id) {
        if (tellProblem !== undefined) throw tellProblem;
        told.set(id, text);
      },
    });
    turns.listen(cron.turnEnded);
    const controller = new AbortController();
    const running = cron.run(controller.signal);
    await clock.advance(0);
    return {
      jobs,
      cron,
      async end() {
        controller.abort(new Error("the process ends"));
        await running;
      },
    };
  }

  return {
    clock,
    log,
    files,
    turns,
    begin,
    /** Of the file, as another process has it. */
    jobs: openJobs(),
    pauseFor: (ms: number) => {
      pausedUntil = clock.now() + ms;
    },
    /** What the owner was told, each once. */
    told: () => [...told.values()],
    /** The sessions that were stopped because they did too much. */
    exceeded,
    failToTell: (error?: Error) => {
      tellProblem = error;
    },
    setOwner: (chat: typeof owner) => {
      owner = chat;
    },
    /** When each run was due: the slots of what was put. */
    slots: (jobId?: string) =>
      turns.put
        .filter(({ metadata }) => jobId === undefined || metadata["job"] === jobId)
        .map(({ id }) => Number(id.split(":").at(-1))),
    stored: () => JSON.parse(files.text(PATH)) as { jobs: (Job & Record<string, unknown>)[] },
  };
}

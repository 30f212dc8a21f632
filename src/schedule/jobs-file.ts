/** `cron/jobs.json` in the original's shape, of both its generations: what is in it for us, and all the rest beside that. */

import { UserError } from "../core/errors.ts";
import type { Job, JobRun, NewJob, Schedule } from "../core/schedule.ts";
import { quote } from "../lib/file-error.ts";
import { isObject } from "../lib/is-object.ts";
import { clip, oneLine, wellFormed } from "../lib/text.ts";
import { scheduleProblem } from "./next-run.ts";
import { fieldOf, objectOf, type RawObject, textOf, wholeOf } from "./raw-fields.ts";

export const LONGEST_MESSAGE = 10_000;
export const LONGEST_NAME = 200;
export const MOST_RUNS = 20;
const LONGEST_ID = 200;
const LONGEST_KEY = 1_000;
const LONGEST_ERROR = 500;
const VERSION = 1;
/** Far deeper than any job goes. Indented, a file of some kilobytes that is much deeper would come to hundreds of megabytes. */
const DEEPEST = 100;

/** An element of the list. */
export interface Entry {
  /** As it is in the file. */
  readonly raw: unknown;
  /** `undefined` for what is none of ours: jobs of the original itself, and what cannot be understood. */
  readonly job: Job | undefined;
  /** Why it cannot be understood, in words. */
  readonly problem: string | undefined;
}

export interface JobsFile {
  /** The file without its list. */
  readonly rest: RawObject;
  readonly entries: readonly Entry[];
}

export const noJobs: JobsFile = { rest: { version: VERSION }, entries: [] };

function scheduleOf(raw: RawObject): Schedule | string {
  const kind = fieldOf(raw, "kind");
  switch (kind) {
    case "at": {
      const atMs = wholeOf(raw, "atMs");
      return atMs === undefined ? "its schedule names no time (atMs)" : { kind, atMs };
    }
    case "every": {
      const everyMs = wholeOf(raw, "everyMs");
      return everyMs === undefined ? "its schedule names no period (everyMs)" : { kind, everyMs };
    }
    case "cron": {
      const expr = textOf(raw, "expr");
      const tz = textOf(raw, "tz");
      if (expr === undefined) return "its schedule names no expression (expr)";
      return { kind, expr, ...(tz === undefined ? {} : { tz }) };
    }
    default:
      return 'its schedule is of no kind that is known ("at", "every", "cron")';
  }
}

/** Under the names that channels of the original give it. */
function threadOf(payload: RawObject): string | undefined {
  const places = ["channelMeta", "originMetadata"].map((name) => objectOf(payload, name));
  for (const place of [payload, ...places, ...places.map((meta) => objectOf(meta, "slack"))])
    for (const name of ["thread", "messageThreadId", "threadTs", "threadId"]) {
      const thread = textOf(place, name);
      if (thread !== undefined) return thread;
    }
  return undefined;
}

/** The first generation says whether and where; the newer one always answers in the chat that a job was made in. */
function deliveryOf(payload: RawObject): Pick<Job, "deliver" | "to"> {
  const named = { channel: textOf(payload, "channel"), chatId: textOf(payload, "to") };
  const origin = { channel: textOf(payload, "originChannel"), chatId: textOf(payload, "originChatId") };
  const isNamed = named.channel !== undefined && named.chatId !== undefined;
  const { channel, chatId } = isNamed ? named : origin;
  const isWanted = fieldOf(payload, "deliver") === true;
  if (channel === undefined || chatId === undefined) return { deliver: isWanted };
  const thread = threadOf(payload);
  const key = textOf(payload, "sessionKey");
  const sessionKey = key === undefined || key.length > LONGEST_KEY ? undefined : key;
  return {
    deliver: isWanted || !isNamed,
    to: {
      channel,
      chatId,
      ...(thread === undefined ? {} : { thread }),
      ...(sessionKey === undefined ? {} : { sessionKey }),
    },
  };
}

function statusOf(value: unknown): JobRun["status"] | undefined {
  return value === "ok" || value === "error" || value === "skipped" ? value : undefined;
}

function runsOf(state: RawObject): readonly JobRun[] {
  const history = fieldOf(state, "runHistory");
  const runs = (Array.isArray(history) ? history : []).flatMap((raw: unknown): readonly JobRun[] => {
    if (!isObject(raw)) return [];
    const runAtMs = wholeOf(raw, "runAtMs");
    const status = statusOf(fieldOf(raw, "status"));
    if (runAtMs === undefined || status === undefined) return [];
    const error = textOf(raw, "error");
    const durationMs = wholeOf(raw, "durationMs") ?? 0;
    return [
      { runAtMs, status, durationMs, ...(error === undefined ? {} : { error: clip(error, LONGEST_ERROR) }) },
    ];
  });
  return runs.slice(-MOST_RUNS);
}

/** A text is what is wrong with it. When it runs next depends on the time, which a file does not know. */
function jobOf(raw: RawObject): Job | string {
  const id = textOf(raw, "id");
  if (id === undefined || id.length > LONGEST_ID) return "it has no id";
  // Turns, sessions and locks are named after it, and people type it.
  if (/[\p{Cc}\p{Cs}]/u.test(id)) return "its id has characters that nobody can type";
  const schedule = scheduleOf(objectOf(raw, "schedule"));
  if (typeof schedule === "string") return schedule;
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) return problem;
  const enabled = fieldOf(raw, "enabled") ?? true;
  if (typeof enabled !== "boolean") return '"enabled" is neither true nor false';
  const payload = objectOf(raw, "payload");
  const message = textOf(payload, "message");
  if (message === undefined) return "it has no message";
  if (message.length > LONGEST_MESSAGE) return `its message is longer than ${LONGEST_MESSAGE} characters`;
  const state = objectOf(raw, "state");
  const createdAtMs = wholeOf(raw, "createdAtMs") ?? 0;
  const lastRunAtMs = wholeOf(state, "lastRunAtMs");
  const lastError = textOf(state, "lastError");
  return {
    id,
    name: oneLine(wellFormed(textOf(raw, "name") ?? message), LONGEST_NAME),
    enabled,
    schedule,
    message: wellFormed(message),
    ...deliveryOf(payload),
    misfire: fieldOf(raw, "misfire") === "skip" ? "skip" : "once",
    deleteAfterRun: fieldOf(raw, "deleteAfterRun") === true,
    nextRunAtMs: undefined,
    lastRunAtMs,
    lastStatus: statusOf(fieldOf(state, "lastStatus")),
    lastError: lastError === undefined ? undefined : clip(lastError, LONGEST_ERROR),
    runs: runsOf(state),
    createdAtMs,
    updatedAtMs: wholeOf(raw, "updatedAtMs") ?? createdAtMs,
  };
}

export function readEntry(raw: unknown): Entry {
  if (!isObject(raw)) return { raw, job: undefined, problem: "it is no object" };
  const kind = fieldOf(objectOf(raw, "payload"), "kind") ?? "agent_turn";
  if (kind === "system_event") return { raw, job: undefined, problem: undefined };
  if (kind !== "agent_turn")
    return { raw, job: undefined, problem: "its payload is of a kind that is not known" };
  const job = jobOf(raw);
  return typeof job === "string" ? { raw, job: undefined, problem: job } : { raw, job, problem: undefined };
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}

/** A text is what is wrong with the file. Throws a `UserError` for a file of a version that has yet to come. */
export function readJobs(value: unknown, path: string): JobsFile | string {
  if (!isObject(value)) return "it is no object with a list of jobs";
  if (isDeeper(value, DEEPEST)) return `it is nested more than ${DEEPEST} deep`;
  const { jobs: list, ...rest } = value;
  if (!Array.isArray(list ?? [])) return 'its "jobs" are no list';
  const version = wholeOf(rest, "version");
  if (version !== undefined && version > VERSION) {
    throw new UserError(`Cannot read ${quote(path)}: a newer nanobot wrote it`, {
      hint: "Use that one, or give the file another name",
      exitCode: 1,
    });
  }
  const seen = new Set<string>();
  const entries = (Array.isArray(list) ? list : []).map((raw: unknown): Entry => {
    const entry = readEntry(raw);
    const id = entry.job?.id;
    if (id === undefined) return entry;
    if (seen.has(id)) return { raw, job: undefined, problem: "its id is another job's" };
    seen.add(id);
    return entry;
  });
  return { rest, entries };
}

/** In the file's own order of keys, ours last where they are new. */
export function writeJobs({ rest, entries }: JobsFile): string {
  return `${JSON.stringify({ ...rest, jobs: entries.map(({ raw }) => raw) }, undefined, 2)}\n`;
}

/** In the shape of the first generation, with what is ours beside it. */
export function newRaw(id: string, job: NewJob, nowMs: number): RawObject {
  const { name, schedule, message, deliver, to, misfire = "once" } = job;
  const { thread, sessionKey } = to ?? {};
  return {
    id,
    name,
    enabled: true,
    schedule,
    payload: {
      kind: "agent_turn",
      message,
      deliver,
      channel: to?.channel ?? null,
      to: to?.chatId ?? null,
      ...(thread === undefined ? {} : { thread }),
      ...(sessionKey === undefined ? {} : { sessionKey }),
    },
    state: { nextRunAtMs: null, lastRunAtMs: null, lastStatus: null, lastError: null, runHistory: [] },
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    deleteAfterRun: job.deleteAfterRun ?? schedule.kind === "at",
    ...(misfire === "once" ? {} : { misfire }),
  };
}

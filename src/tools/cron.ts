/** The tool that makes, lists and removes jobs of the chat it is used in. */

import * as v from "valibot";
import { UserError } from "../core/errors.ts";
import { NOWHERE } from "../core/messages.ts";
import type { Job, Jobs, NewJob, Schedule } from "../core/schedule.ts";
import { defineTool, type ToolContext, type ToolResult, toolError, toolOk } from "../core/tool.ts";
import { quote } from "../lib/file-error.ts";
import { jobsMadeJobs, tooManyJobs } from "../lib/phrases.ts";
import { type NextContext, showNext, showSchedule } from "../lib/schedule-text.ts";
import { oneLine } from "../lib/text.ts";
import { parseMoment } from "../lib/zoned-time.ts";
import { flag, text, whole } from "./parameters.ts";

const LONGEST_NAME = 100;
const LONGEST_SHOWN = 200;
const NO_GATEWAY =
  "No gateway runs for this workspace: jobs wait until one does. Tell the user to start it with: nanobot gateway";

const parameters = v.strictObject({
  action: v.pipe(v.picklist(["add", "list", "remove"]), v.description("What to do")),
  message: text("For add: what to do when the time comes, with everything that must be known for it"),
  name: text("For add: a short name of the job"),
  every_seconds: whole("For add: do it again and again after so many seconds", 0, 3_155_760_000),
  cron_expr: text('For add: do it by the calendar: five fields, as in "0 9 * * 1-5" for workdays at nine'),
  tz: text("Time zone of cron_expr, as in Europe/Berlin; the agent's own when left out"),
  at: text(
    "For add: do it once at this time, ISO 8601 as in 2026-11-30T09:00:00; without an offset in the agent's time zone",
  ),
  job_id: text("For remove: the id of the job"),
  deliver: flag("For add: send the answer to this chat; true when left out"),
});

type Arguments = v.InferOutput<typeof parameters>;

export const cron = defineTool({
  name: "cron",
  description:
    "Do something at a time, after a time or again and again: make a job (action add, with message and exactly one of at, every_seconds and cron_expr), list the jobs of this chat, or remove one. The job runs in a session of its own, and its answer is sent to this chat.",
  parameters,
  mainOnly: true,
  aliases: {
    id: "job_id",
    jobId: "job_id",
    every: "every_seconds",
    seconds: "every_seconds",
    interval: "every_seconds",
    everySeconds: "every_seconds",
    expr: "cron_expr",
    cron: "cron_expr",
    schedule: "cron_expr",
    cronExpr: "cron_expr",
    timezone: "tz",
    time: "at",
    task: "message",
    prompt: "message",
  },

  async execute(args, context) {
    const { jobs } = context.ports;
    if (jobs === undefined)
      return toolError("nobody keeps the time here, so there are no jobs: they belong to nanobot gateway");
    switch (args.action) {
      case "add":
        return add(jobs, args, context);
      case "list":
        return list(jobs, context);
      case "remove":
        return remove(jobs, args.job_id, context);
    }
  },
});

/** Turns that nobody asked for at the moment: what they made would make more. */
function isBackground({ origin, sessionKey }: ToolContext): boolean {
  const isOrigin = origin === "cron" || origin === "heartbeat";
  return isOrigin || sessionKey.startsWith("cron:") || sessionKey === "heartbeat";
}

/** Some models fill in what they do not use. */
function given<Value>(value: Value | undefined): Value | undefined {
  return value === 0 || (typeof value === "string" && value.trim() === "") ? undefined : value;
}

function scheduleOf(args: Arguments, timeZone: string): Schedule {
  const [at, expr, tz] = [given(args.at), given(args.cron_expr), given(args.tz)];
  const seconds = given(args.every_seconds);
  const schedules = [at, seconds, expr].filter((value) => value !== undefined);
  if (schedules.length !== 1)
    throw new UserError(
      "Give exactly one of at, every_seconds and cron_expr, which say when it is to be done",
    );
  if (tz !== undefined && expr === undefined)
    throw new UserError("tz goes with cron_expr only; for another zone give at with an offset, as in +02:00");
  if (seconds !== undefined) return { kind: "every", everyMs: seconds * 1_000 };
  if (expr !== undefined)
    return { kind: "cron", expr: expr.trim(), ...(tz === undefined ? {} : { tz: tz.trim() }) };
  const atMs = parseMoment(at ?? "", timeZone);
  if (atMs === undefined)
    throw new UserError(`${quote(at ?? "")} is no time; write it as in 2026-11-30T09:00:00`);
  return { kind: "at", atMs };
}

async function add(jobs: Jobs, args: Arguments, context: ToolContext): Promise<ToolResult> {
  const { sessionKey } = context;
  const { tellOwner = () => {} } = context.ports;
  if (isBackground(context)) {
    tellOwner(jobsMadeJobs(sessionKey), `jobs-make-jobs:${sessionKey}`);
    return toolError(
      "a job must not make jobs, so none can be added now; give a job a schedule that repeats",
      { refused: true },
    );
  }
  const { message = "", name, deliver = true } = args;
  if (message.trim() === "") return toolError("message is missing: what is to be done when the time comes?");
  const { channel, chatId, thread } = context;
  const place = { channel, chatId, ...(thread === undefined ? {} : { thread }), sessionKey };
  const job: NewJob = {
    name: oneLine(given(name) ?? message, LONGEST_NAME),
    schedule: scheduleOf(args, jobs.timeZone),
    message,
    deliver,
    ...(channel === NOWHERE ? {} : { to: place }),
  };
  const now = await nextContext(jobs, context);
  try {
    return toolOk(`Added ${lineOf(await jobs.add(job), now)}${now.isKept ? "" : `\n${NO_GATEWAY}`}`);
  } catch (error) {
    if (error instanceof UserError && error.isRefusal) tellOwner(tooManyJobs(sessionKey), "too-many-jobs");
    throw error;
  }
}

/** Others are none of this chat's business. */
function isHere({ to }: Job, { channel, chatId, thread }: ToolContext): boolean {
  return to?.channel === channel && to.chatId === chatId && to.thread === thread;
}

async function nextContext({ timeZone }: Jobs, { ports, signal }: ToolContext): Promise<NextContext> {
  const isKept = ports.isTimeKept === undefined || (await ports.isTimeKept(signal));
  return { nowMs: ports.clock.now(), timeZone, isKept };
}

function lineOf(job: Job, now: NextContext): string {
  const { id, name, schedule, lastStatus, lastError } = job;
  const last = lastStatus === undefined ? "" : `; last run ${lastStatus}`;
  const why = lastError === undefined ? "" : ` (${oneLine(lastError, LONGEST_SHOWN)})`;
  return `job ${quote(oneLine(name, LONGEST_NAME))} (id ${id}): ${showSchedule(schedule, now.timeZone)}; ${showNext(job, now)}${last}${why}`;
}

async function list(jobs: Jobs, context: ToolContext): Promise<ToolResult> {
  const here = (await jobs.list()).filter((job) => isHere(job, context));
  if (here.length === 0) return toolOk("There are no jobs of this chat");
  const now = await nextContext(jobs, context);
  const lines = here.map((job) => `- ${lineOf(job, now)}\n  ${oneLine(job.message, LONGEST_SHOWN)}`);
  const waits = !now.isKept && here.some(({ enabled }) => enabled) ? `\n${NO_GATEWAY}` : "";
  return toolOk(`Jobs of this chat:\n${lines.join("\n")}${waits}`);
}

async function remove(jobs: Jobs, id: string | undefined, context: ToolContext): Promise<ToolResult> {
  if (id === undefined) return toolError("job_id is missing: action list shows the ids");
  const job = (await jobs.list()).find((other) => other.id === id.trim());
  const removed = job !== undefined && isHere(job, context) ? await jobs.remove(job.id) : undefined;
  if (removed === undefined)
    return toolError(`there is no job ${quote(id)} of this chat; action list shows those there are`);
  return toolOk(`Removed job ${quote(oneLine(removed.name, LONGEST_NAME))} (id ${removed.id})`);
}

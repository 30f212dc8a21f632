/** `nanobot cron`: the jobs of the agent, of the file that a running gateway keeps the time by. */

import type { App } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { Job, NewJob } from "../core/schedule.ts";
import { quote } from "../lib/file-error.ts";
import { nearest } from "../lib/nearest.ts";
import { safeJson } from "../lib/safe-json.ts";
import { showSchedule } from "../lib/schedule-text.ts";
import { oneLine } from "../lib/text.ts";
import { showMoment } from "../lib/zoned-time.ts";
import { requireGateway } from "./ask-gateway.ts";
import { type CommandContext, defineCommand, type ExitCode } from "./command.ts";
import { jobOptions } from "./cron-options.ts";
import { masked } from "./masked.ts";
import { ensureWorkspace } from "./workspace.ts";

const LONGEST_NAME = 100;
const LONGEST_PREVIEW = 200;

/** So that it need not wait until it looks by itself. What was changed is changed, whatever comes of this. */
async function tellGateway(app: App, signal: AbortSignal): Promise<void> {
  try {
    await app.askGateway("cron.reload", {}, signal);
  } catch (error) {
    app.log.warn("The gateway was not told at once; it looks within 5 minutes", { error });
  }
}

function say(app: App, text: string): void {
  app.platform.terminal.out(app.mask(text));
}

function nameOf({ id, name }: Job): string {
  return `"${oneLine(name, LONGEST_NAME)}" (${oneLine(id, LONGEST_NAME)})`;
}

function nextOf({ enabled, nextRunAtMs }: Job, timeZone: string): string {
  if (!enabled) return "disabled";
  return nextRunAtMs === undefined ? "does not run again" : `next ${showMoment(nextRunAtMs, timeZone)}`;
}

function whereOf({ deliver, to }: Job): string {
  if (!deliver) return "tells nobody";
  return to === undefined
    ? "tells the owner"
    : `tells ${oneLine(`${to.channel}:${to.chatId}`, LONGEST_NAME)}`;
}

function rowOf(job: Job, timeZone: string): string {
  const { lastStatus, lastError } = job;
  const why = lastError === undefined ? "" : `: ${oneLine(lastError, LONGEST_PREVIEW)}`;
  const last = lastStatus === undefined ? "" : `  last run ${lastStatus}${why}`;
  return [
    nameOf(job),
    `  ${showSchedule(job.schedule, timeZone)}  ${nextOf(job, timeZone)}${last}`,
    `  ${whereOf(job)}  ${oneLine(job.message, LONGEST_PREVIEW)}`,
    "",
  ].join("\n");
}

async function list({ app, options }: CommandContext): Promise<ExitCode> {
  const jobs = await app.jobs();
  const all = await jobs.list();
  const shown = masked(
    all.filter(({ enabled }) => enabled || options["all"] === true),
    app.mask,
  );
  if (options["json"] === true) {
    app.platform.terminal.out(`${safeJson(shown, 2)}\n`);
    return 0;
  }
  const hidden = all.length - shown.length;
  if (shown.length === 0) say(app, "There are no jobs\n");
  say(app, shown.map((job) => rowOf(job, jobs.timeZone)).join(""));
  if (hidden > 0) say(app, `${hidden} more disabled: see "nanobot cron list --all"\n`);
  return 0;
}

/** Most often a slip of the pen, which would show only when an answer comes elsewhere. */
async function warnOfChannel(app: App, { to }: NewJob): Promise<void> {
  if (to === undefined) return;
  const known = (await app.channels()).find(({ name }) => name === to.channel);
  if (!known?.exists || !known.enabled)
    app.log.warn("The channel is not enabled: as long as it is not, the answers go to the owner", {
      channel: to.channel,
    });
}

async function add({ app, options, signal }: CommandContext): Promise<ExitCode> {
  const jobs = await app.jobs();
  const wanted = jobOptions(options, jobs.timeZone);
  await warnOfChannel(app, wanted);
  await ensureWorkspace(app);
  const job = await jobs.add(wanted);
  await tellGateway(app, signal);
  say(
    app,
    `Added ${nameOf(job)}: ${showSchedule(job.schedule, jobs.timeZone)}, ${nextOf(job, jobs.timeZone)}\n`,
  );
  return 0;
}

/** Does something with the job that is named, and says so. */
async function act(
  { app, positionals, signal }: CommandContext,
  work: (id: string) => Promise<Job | undefined>,
  said: (job: Job, timeZone: string) => string,
): Promise<ExitCode> {
  const [id = ""] = positionals;
  const jobs = await app.jobs();
  const job = await work(id);
  if (job === undefined) {
    const ids = (await jobs.list()).map((other) => other.id);
    const meant = nearest(id, ids);
    throw new UserError(`There is no job ${quote(id)}`, {
      hint: meant === undefined ? 'See "nanobot cron list --all"' : `Did you mean ${quote(meant)}?`,
    });
  }
  await tellGateway(app, signal);
  say(app, `${said(job, jobs.timeZone)}\n`);
  return 0;
}

async function remove(context: CommandContext): Promise<ExitCode> {
  const jobs = await context.app.jobs();
  return act(context, jobs.remove, (job) => `Removed ${nameOf(job)}`);
}

async function setEnabled(context: CommandContext, enabled: boolean): Promise<ExitCode> {
  const jobs = await context.app.jobs();
  return act(
    context,
    (id) => jobs.setEnabled(id, enabled),
    (job, timeZone) =>
      enabled ? `Enabled ${nameOf(job)}: ${nextOf(job, timeZone)}` : `Disabled ${nameOf(job)}`,
  );
}

async function run({ app, positionals, options, signal }: CommandContext): Promise<ExitCode> {
  const [id = ""] = positionals;
  await requireGateway(app, "cron.run", { id, force: options["force"] === true }, signal);
  say(app, `Begun: ${oneLine(id, LONGEST_NAME)}\n`);
  return 0;
}

export const command = defineCommand({
  about: "Have the agent do something at a time, or again and again",
  subcommands: {
    list: {
      about: "List the jobs",
      options: {
        all: { type: "boolean", about: "those that are disabled too" },
        json: { type: "boolean", about: "print JSON" },
      },
      run: list,
    },
    add: {
      about: "Add a job",
      options: {
        name: { type: "string", value: "NAME", about: "what lists call it" },
        message: { type: "string", value: "TEXT", about: "what the agent is told to do" },
        cron: { type: "string", value: "EXPR", about: 'by the calendar, as in "0 9 * * 1-5"' },
        tz: { type: "string", value: "ZONE", about: "time zone of --cron; the agent's own when left out" },
        every: { type: "string", value: "PERIOD", about: "again and again: 90s, 10m, 2h, 1d, or seconds" },
        at: { type: "string", value: "TIME", about: "once, as in 2026-11-30T09:00" },
        deliver: { type: "boolean", about: "send the answer to a chat; the owner's when none is named" },
        channel: { type: "string", value: "NAME", about: "the channel of that chat" },
        to: { type: "string", value: "CHAT", about: "the id of that chat" },
        misfire: {
          type: "string",
          value: "once|skip",
          about: "a run that was missed is made up for once (the rule), or left out",
        },
      },
      ownerOnly: true,
      run: add,
    },
    remove: { about: "Remove a job", positionals: ["ID"], ownerOnly: true, run: remove },
    enable: {
      about: "Let a job run again",
      positionals: ["ID"],
      options: { disable: { type: "boolean", about: "the opposite" } },
      ownerOnly: true,
      run: (context) => setEnabled(context, context.options["disable"] !== true),
    },
    disable: {
      about: "Let a job run no more, and keep it",
      positionals: ["ID"],
      ownerOnly: true,
      run: (context) => setEnabled(context, false),
    },
    run: {
      about: "Run a job now, in the gateway that runs",
      positionals: ["ID"],
      options: { force: { type: "boolean", about: "also when it is disabled" } },
      ownerOnly: true,
      run,
    },
  },
});

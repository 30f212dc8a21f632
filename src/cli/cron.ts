/** `nanobot cron`: the jobs of the agent, of the file that a running gateway keeps the time by. */

import type { App } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { Job, NewJob, OwnersJobs } from "../core/schedule.ts";
import { quote } from "../lib/file-error.ts";
import { nearest } from "../lib/nearest.ts";
import { safeJson } from "../lib/safe-json.ts";
import { showSchedule } from "../lib/schedule-text.ts";
import { requireGateway } from "./ask-gateway.ts";
import { type CommandContext, defineCommand, type ExitCode } from "./command.ts";
import { findChannels, list, nameOf, nextOf, say, warnOfNoGateway, whereOf } from "./cron-list.ts";
import { jobOptions } from "./cron-options.ts";
import { masked } from "./masked.ts";
import { ensureWorkspace } from "./workspace.ts";

const json = { type: "boolean", about: "print JSON" } as const;

/** So that it need not wait until it looks by itself. What was changed is changed, whatever comes of this. */
async function tellGateway(app: App, signal: AbortSignal): Promise<{ readonly running: boolean }> {
  try {
    return await app.askGateway("cron.reload", {}, signal);
  } catch (error) {
    app.log.warn("The gateway was not told at once; it looks within 30 seconds", { error });
    return { running: true };
  }
}

/** Most often a slip of the pen, which would show only when an answer comes elsewhere. */
function warnOfChannel(app: App, { to }: NewJob, channels: ReadonlySet<string>): void {
  if (to !== undefined && !channels.has(to.channel))
    app.log.warn("The channel is not enabled: as long as it is not, the answers go to the owner", {
      channel: to.channel,
    });
}

async function add({ app, options, signal }: CommandContext): Promise<ExitCode> {
  const jobs = await app.jobs();
  const wanted = jobOptions(options, jobs.timeZone);
  const channels = await findChannels(app, [wanted]);
  warnOfChannel(app, wanted, channels);
  await ensureWorkspace(app);
  const job = await jobs.add(wanted);
  const { running } = await tellGateway(app, signal);
  if (options["json"] === true) {
    app.platform.terminal.out(`${safeJson(masked(job, app.mask), 2)}\n`);
    return 0;
  }
  const facts = [
    showSchedule(job.schedule, jobs.timeZone),
    nextOf(app, job, jobs, running),
    whereOf(job, channels),
  ];
  say(app, `Added ${nameOf(job)}: ${facts.join(", ")}\n`);
  if (!running) warnOfNoGateway(app);
  return 0;
}

/** People remember names. */
async function meantBy(jobs: OwnersJobs, wanted: string): Promise<string> {
  const all = await jobs.list();
  const broken = (await jobs.unreadable()).find(({ id }) => id === wanted);
  if (broken !== undefined) return `It cannot be understood (${broken.problem}): mend it in the file`;
  const folded = wanted.trim().toLowerCase();
  const [named, ...others] = all.filter(({ name }) => name.trim().toLowerCase() === folded);
  const meant =
    named !== undefined && others.length === 0
      ? named.id
      : nearest(
          wanted,
          all.map(({ id }) => id),
        );
  return meant === undefined ? 'See "nanobot cron list --all"' : `Did you mean ${quote(meant)}?`;
}

/** `job` is the one that `id` names. Throws a `UserError` when there is none. */
async function found(jobs: OwnersJobs, id: string, job: Job | undefined): Promise<Job> {
  if (job !== undefined) return job;
  throw new UserError(`There is no job ${quote(id)}`, { hint: await meantBy(jobs, id) });
}

async function remove({ app, positionals, signal }: CommandContext): Promise<ExitCode> {
  const [id = ""] = positionals;
  const jobs = await app.jobs();
  const job = await found(jobs, id, await jobs.remove(id));
  await tellGateway(app, signal);
  say(app, `Removed ${nameOf(job)}\n`);
  return 0;
}

async function setEnabled({ app, positionals, signal }: CommandContext, enabled: boolean): Promise<ExitCode> {
  const [id = ""] = positionals;
  const jobs = await app.jobs();
  const job = await found(jobs, id, await jobs.setEnabled(id, enabled));
  const { running } = await tellGateway(app, signal);
  const done = enabled
    ? `Enabled ${nameOf(job)}: ${nextOf(app, job, jobs, running)}`
    : `Disabled ${nameOf(job)}`;
  say(app, `${done}\n`);
  if (enabled && !running) warnOfNoGateway(app);
  return 0;
}

async function run({ app, positionals, options, signal }: CommandContext): Promise<ExitCode> {
  const [id = ""] = positionals;
  const jobs = await app.jobs();
  const known = (await jobs.list()).find((other) => other.id === id);
  const job = await found(jobs, id, known);
  await requireGateway(app, "cron.run", { id, force: options["force"] === true }, signal);
  say(app, `Begun ${nameOf(job)}\n`);
  return 0;
}

export const command = defineCommand({
  about: "Have the agent do something at a time, or again and again",
  subcommands: {
    list: {
      about: "List the jobs",
      options: {
        all: { type: "boolean", about: "those that are disabled too" },
        json,
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
          about: "a run that was missed is made up for once (default), or left out",
        },
        json,
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

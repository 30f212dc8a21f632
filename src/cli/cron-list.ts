/** `nanobot cron list`, and how a job is shown. */

import type { App } from "../core/app.ts";
import type { Job, NewJob, OwnersJobs, UnreadableJob } from "../core/schedule.ts";
import { safeJson } from "../lib/safe-json.ts";
import { showNext, showSchedule } from "../lib/schedule-text.ts";
import { oneLine } from "../lib/text.ts";
import { isBelowTool } from "../lib/tool-mark.ts";
import type { CommandContext, ExitCode } from "./command.ts";
import { gatewayStatus } from "./gateway-status.ts";
import { masked } from "./masked.ts";

const LONGEST_NAME = 100;
const LONGEST_PREVIEW = 200;

export function say(app: App, text: string): void {
  app.platform.terminal.out(app.mask(text));
}

export function warnOfNoGateway(app: App): void {
  app.platform.terminal.err(
    "No gateway runs for this workspace: jobs wait until one does (nanobot gateway)\n",
  );
}

export function nameOf({ id, name }: Pick<Job, "id" | "name">): string {
  return `"${oneLine(name, LONGEST_NAME)}" (${oneLine(id, LONGEST_NAME)})`;
}

export function nextOf(app: App, job: Job, { timeZone }: OwnersJobs, isKept: boolean): string {
  return showNext(job, { nowMs: app.platform.clock.now(), timeZone, isKept });
}

/** Whether answers of jobs can be sent by a channel of that name. Looks only when there is one to look for. */
export async function findChannels(
  app: App,
  jobs: readonly Pick<NewJob, "to">[],
): Promise<ReadonlySet<string>> {
  if (jobs.every(({ to }) => to === undefined)) return new Set();
  const usable = (await app.channels()).filter(({ exists, enabled }) => exists && enabled);
  return new Set(usable.map(({ name }) => name));
}

export function whereOf({ deliver, to }: Pick<Job, "deliver" | "to">, channels: ReadonlySet<string>): string {
  if (!deliver) return "tells nobody";
  if (to === undefined) return "tells the owner";
  const chat = oneLine(`${to.channel}:${to.chatId}`, LONGEST_NAME);
  return channels.has(to.channel)
    ? `tells ${chat}`
    : `tells the owner, since the channel of ${chat} is not enabled`;
}

function rowOf(job: Job, { schedule, next, where }: Record<"schedule" | "next" | "where", string>): string {
  const { lastStatus, lastError } = job;
  const why = lastError === undefined ? "" : `: ${oneLine(lastError, LONGEST_PREVIEW)}`;
  const last = lastStatus === undefined ? "" : `  last run ${lastStatus}${why}`;
  return [
    nameOf(job),
    `  ${schedule}  ${next}${last}`,
    `  ${where}  ${oneLine(job.message, LONGEST_PREVIEW)}`,
    "",
  ].join("\n");
}

function unreadableRow({ place, id, name, problem }: UnreadableJob): string {
  const names = [name === undefined ? undefined : `"${name}"`, id === undefined ? undefined : `(${id})`];
  const shown = names.filter((part) => part !== undefined).join(" ") || `Number ${place} of the file`;
  return `${oneLine(shown, 2 * LONGEST_NAME)}\n  does not run, because it cannot be understood: ${oneLine(problem, LONGEST_PREVIEW)}\n`;
}

/** A sandbox that the agent's commands run in hides the gateway from them. */
async function isKept({ app, signal }: CommandContext): Promise<boolean> {
  if (isBelowTool(app.platform.env)) return true;
  const status = await gatewayStatus(app, signal);
  // One that cannot be understood runs.
  return status.running || "problem" in status;
}

export async function list(context: CommandContext): Promise<ExitCode> {
  const { app, options } = context;
  const { terminal } = app.platform;
  const jobs = await app.jobs();
  const all = await jobs.list();
  const unreadable = masked(await jobs.unreadable(), app.mask);
  const shown = masked(
    all.filter(({ enabled }) => enabled || options["all"] === true),
    app.mask,
  );
  if (options["json"] === true) {
    terminal.out(`${safeJson([...shown, ...unreadable], 2)}\n`);
    return 0;
  }
  if (all.length === 0 && unreadable.length === 0) terminal.err("There are no jobs.\n");
  const hasEnabled = shown.some(({ enabled }) => enabled);
  const kept = !hasEnabled || (await isKept(context));
  const channels = await findChannels(app, shown);
  for (const job of shown) {
    const schedule = showSchedule(job.schedule, jobs.timeZone);
    say(app, rowOf(job, { schedule, next: nextOf(app, job, jobs, kept), where: whereOf(job, channels) }));
  }
  for (const one of unreadable) say(app, unreadableRow(one));
  const hidden = all.length - shown.length;
  if (hidden > 0) say(app, `${hidden} more disabled: see "nanobot cron list --all"\n`);
  if (!kept) warnOfNoGateway(app);
  return 0;
}

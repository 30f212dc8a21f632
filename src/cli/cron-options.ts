/** The options of `nanobot cron add` as a job. */

import { UserError } from "../core/errors.ts";
import type { NewJob, Schedule } from "../core/schedule.ts";
import { quote } from "../lib/file-error.ts";
import { parsePeriod } from "../lib/schedule-text.ts";
import { parseMoment } from "../lib/zoned-time.ts";
import { type CommandContext, textOption } from "./command.ts";

type Options = CommandContext["options"];

function required(options: Options, name: string, example: string): string {
  const value = textOption(options, name);
  if (value !== undefined && value.trim() !== "") return value;
  throw new UserError(`Missing --${name}`, { hint: `As in --${name} ${quote(example)}` });
}

function scheduleOf(options: Options, timeZone: string): Schedule {
  const [expr, every, at, tz] = ["cron", "every", "at", "tz"].map((name) => textOption(options, name));
  if ([expr, every, at].filter((value) => value !== undefined).length !== 1) {
    throw new UserError("Say when, by exactly one of --cron, --every and --at", {
      hint: 'As in --cron "0 9 * * 1-5", --every 10m or --at 2026-11-30T09:00',
    });
  }
  if (tz !== undefined && expr === undefined) {
    throw new UserError("--tz goes with --cron only", {
      hint: "For another zone give --at with an offset, as in 2026-11-30T09:00+02:00",
    });
  }
  if (expr !== undefined) return { kind: "cron", expr: expr.trim(), ...(tz === undefined ? {} : { tz }) };
  if (every !== undefined) {
    const everyMs = parsePeriod(every);
    if (everyMs !== undefined) return { kind: "every", everyMs };
    throw new UserError(`Cannot tell how often --every ${quote(every)} means`, {
      hint: "Say it as in 90s, 10m, 2h or 1d, or in seconds",
    });
  }
  const atMs = parseMoment(at ?? "", timeZone);
  if (atMs !== undefined) return { kind: "at", atMs };
  throw new UserError(`Cannot tell which time --at ${quote(at ?? "")} means`, {
    hint: `As in 2026-11-30T09:00 (in ${timeZone}) or 2026-11-30T09:00Z`,
  });
}

function deliveryOf(options: Options): Pick<NewJob, "deliver" | "to"> {
  const deliver = options["deliver"] === true;
  const channel = textOption(options, "channel");
  const chatId = textOption(options, "to");
  if (channel === undefined && chatId === undefined) return { deliver };
  if (!deliver) throw new UserError("--channel and --to say where to, and need --deliver");
  if (!channel?.trim() || !chatId?.trim()) {
    throw new UserError("--channel and --to go together", {
      hint: "Leave out both to tell the owner",
    });
  }
  return { deliver, to: { channel, chatId } };
}

/** Throws a `UserError` for what is missing or cannot be understood. */
export function jobOptions(options: Options, timeZone: string): NewJob {
  const misfire = textOption(options, "misfire") ?? "once";
  if (misfire !== "once" && misfire !== "skip")
    throw new UserError(`Cannot tell what --misfire ${quote(misfire)} means`, { hint: "It is once or skip" });
  return {
    name: required(options, "name", "tea"),
    message: required(options, "message", "Remind me to drink tea"),
    schedule: scheduleOf(options, timeZone),
    ...deliveryOf(options),
    misfire,
  };
}

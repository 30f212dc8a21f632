/** `nanobot outbox`: messages that are not delivered, of the running gateway or of none. */

import * as v from "valibot";
import type { App } from "../core/app.ts";
import type { Outbox } from "../core/bus.ts";
import { OUTBOX_PREVIEW } from "../core/bus.ts";
import { UserError } from "../core/errors.ts";
import type { OutboundId } from "../core/messages.ts";
import { safeJson } from "../lib/safe-json.ts";
import { clip, oneLine } from "../lib/text.ts";
import { type CommandContext, defineCommand, type ExitCode } from "./command.ts";
import { masked } from "./masked.ts";
import { ensureWorkspace } from "./workspace.ts";

const json = { type: "boolean", about: "print JSON" } as const;
const LONGEST_PREVIEW = 80;

const row = v.object({
  id: v.string(),
  channel: v.string(),
  chatId: v.string(),
  thread: v.nullable(v.string()),
  state: v.picklist(["waiting", "failed"]),
  reason: v.nullable(v.string()),
  createdAt: v.string(),
  sent: v.number(),
  content: v.string(),
});
type Row = v.InferOutput<typeof row>;

async function entries(app: App, signal: AbortSignal): Promise<readonly Row[]> {
  const answer = await app.askGateway("outbox.list", {}, signal);
  if (answer.running) return v.parse(v.array(row), answer.value);
  return withFiles(app, async (outbox) =>
    outbox.list().map((entry) => ({
      ...entry,
      thread: entry.thread ?? null,
      reason: entry.reason ?? null,
      content: clip(entry.content, OUTBOX_PREVIEW),
    })),
  );
}

/** Its files make the folder that they lie in, and a folder that is there gets no templates. */
async function withFiles<T>(app: App, work: (outbox: Outbox) => Promise<T>): Promise<T> {
  await ensureWorkspace(app);
  return app.withOutbox(work);
}

async function list({ app, options, signal }: CommandContext): Promise<ExitCode> {
  const found = masked(await entries(app, signal), app.mask);
  const { terminal } = app.platform;
  if (options["json"] === true) {
    terminal.out(`${safeJson(found, 2)}\n`);
    return 0;
  }
  if (found.length === 0) terminal.out("Nothing waits to be delivered\n");
  for (const { id, channel, chatId, state, reason, createdAt, content } of found) {
    const why = reason === null ? "" : `: ${oneLine(reason, LONGEST_PREVIEW)}`;
    terminal.out(
      `${oneLine(id, 200)}\n  ${createdAt}  ${oneLine(`${channel}:${chatId}`, LONGEST_PREVIEW)}  ${state}${why}\n  ${oneLine(content, LONGEST_PREVIEW)}\n`,
    );
  }
  return 0;
}

/** The messages that are meant: one by its id, or all that failed. */
async function meant({ app, positionals, options, signal }: CommandContext): Promise<readonly string[]> {
  const [id] = positionals;
  if ((options["all"] === true) === (id !== undefined)) {
    throw new UserError("Name one message by its id, or all that failed with --all");
  }
  if (id !== undefined) return [id];
  const found = await entries(app, signal);
  return found.filter(({ state }) => state === "failed").map((entry) => entry.id);
}

async function act(context: CommandContext, action: "retry" | "drop"): Promise<ExitCode> {
  const { app, options, signal } = context;
  const ids = await meant(context);
  let done = 0;
  for (const id of ids) {
    const answer = await app.askGateway(`outbox.${action}`, { id }, signal);
    const isDone = answer.running
      ? answer.value === true
      : await withFiles(app, (outbox) => outbox[action](id as OutboundId));
    if (isDone) done++;
    else if (options["all"] !== true) {
      throw new UserError(
        `There is no ${action === "retry" ? "failed message" : "message"} "${oneLine(id, 200)}"`,
        {
          hint: 'See "nanobot outbox list"',
          exitCode: 1,
        },
      );
    }
  }
  const noun = done === 1 ? "message" : "messages";
  app.platform.terminal.out(
    action === "retry" ? `${done} ${noun} will be sent again\n` : `${done} ${noun} dropped\n`,
  );
  return 0;
}

const all = { type: "boolean", about: "all messages that failed" } as const;

export const command = defineCommand({
  about: "Show messages that could not be delivered, send them again, or drop them",
  subcommands: {
    list: { about: "List what is not delivered", options: { json }, run: list },
    retry: {
      about: "Send a failed message again",
      positionals: ["ID?"],
      options: { all },
      ownerOnly: true,
      run: (context) => act(context, "retry"),
    },
    drop: {
      about: "Forget a message",
      positionals: ["ID?"],
      options: { all },
      ownerOnly: true,
      run: (context) => act(context, "drop"),
    },
  },
});

/** `nanobot tasks`: what subagents work on, of the running gateway or as the last one left it. */

import * as v from "valibot";
import type { App } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { TaskInfo } from "../core/tasks.ts";
import { errorCode } from "../lib/error-code.ts";
import { explained, quote } from "../lib/file-error.ts";
import { refuseNewer } from "../lib/json-file.ts";
import { parseJson } from "../lib/parse-json.ts";
import { join } from "../lib/path.ts";
import { safeJson } from "../lib/safe-json.ts";
import { oneLine } from "../lib/text.ts";
import { type CommandContext, defineCommand, type ExitCode } from "./command.ts";
import { masked } from "./masked.ts";

const LONGEST_LINE = 100;
/** The gateway's file is never longer. */
const LONGEST_FILE = 32 * 1024 * 1024;

const row = v.object({
  id: v.string(),
  label: v.string(),
  task: v.string(),
  sessionKey: v.string(),
  state: v.picklist([
    "queued",
    "running",
    "done",
    "failed",
    "stopped",
    "interrupted",
  ] satisfies TaskInfo["state"][]),
  createdAt: v.string(),
  endedAt: v.nullish(v.string(), null),
  toolCalls: v.number(),
});
type Row = v.InferOutput<typeof row>;

/** Of the file as it is read here. */
const VERSION = 1;
const file = v.object({ v: v.optional(v.unknown()), tasks: v.array(v.unknown()) });

/** What a gateway that has ended left open is over: the next one says so in its chats. */
async function recorded(app: App): Promise<readonly Row[]> {
  const { workspace } = await app.paths();
  const path = join(workspace, ".nanobot", "tasks.json");
  const bytes = await explained("read", path, () => readIfThere(app, path));
  if (bytes === undefined) return [];
  const { success, output } = v.safeParse(file, parseJson(new TextDecoder().decode(bytes)));
  if (!success) {
    throw new UserError(`Cannot understand ${quote(path)}`, {
      hint: "The next gateway keeps it under another name and begins a new one",
    });
  }
  refuseNewer(output, { path, version: VERSION });
  return output.tasks
    .map((task) => v.safeParse(row, task))
    .flatMap((parsed) => (parsed.success ? [parsed.output] : []))
    .map((task) =>
      task.state === "queued" || task.state === "running" ? { ...task, state: "interrupted" } : task,
    );
}

async function readIfThere({ platform }: App, path: string): Promise<Uint8Array | undefined> {
  try {
    return await platform.files.read(path, { end: LONGEST_FILE });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

const NONE = "No task works in the background";

async function list({ app, options, signal }: CommandContext): Promise<ExitCode> {
  const { terminal } = app.platform;
  const answer = await app.askGateway("tasks.list", {}, signal);
  const rows = answer.running ? v.parse(v.array(row), answer.value) : await recorded(app);
  const found = masked(rows, app.mask);
  const hasLeft = !answer.running && found.length > 0;
  if (hasLeft) terminal.err("No gateway runs for this workspace. This is what the last one left:\n");
  if (options["json"] === true) {
    terminal.out(`${safeJson(found, 2)}\n`);
    return 0;
  }
  if (found.length === 0)
    terminal.out(answer.running ? `${NONE}\n` : `${NONE}: no gateway runs for this workspace\n`);
  for (const { id, label, sessionKey, state, createdAt, toolCalls } of found) {
    const calls = toolCalls === 1 ? "1 tool call" : `${toolCalls} tool calls`;
    const line = [id, createdAt, state, calls, sessionKey].map((cell) => oneLine(cell, LONGEST_LINE));
    terminal.out(`${line.join("  ")}\n  ${oneLine(label, LONGEST_LINE)}\n`);
  }
  return 0;
}

export const command = defineCommand({
  about: "Show what subagents work on in the background",
  subcommands: {
    list: {
      about: "List the tasks that run or wait, and the latest that ended",
      options: { json: { type: "boolean", about: "print JSON" } },
      run: list,
    },
  },
});

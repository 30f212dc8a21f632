/** `nanobot sessions`: what was said, and where it lies. */

import { UserError } from "../core/errors.ts";
import type { StoredMessage } from "../core/session.ts";
import { fileLabel } from "../lib/breadcrumb.ts";
import { quote } from "../lib/file-error.ts";
import { nearest } from "../lib/nearest.ts";
import { safeJson } from "../lib/safe-json.ts";
import { oneLine, stripControls } from "../lib/text.ts";
import { toolHint } from "../lib/tool-hint.ts";
import { type CommandContext, defineCommand, type ExitCode } from "./command.ts";
import { replay } from "./replay.ts";

const json = { type: "boolean", about: "print JSON" } as const;

async function list({ app, options }: CommandContext): Promise<ExitCode> {
  const { terminal } = app.platform;
  const sessions = await (await app.sessions()).list();
  if (options["json"] === true) {
    terminal.out(`${safeJson(sessions, 2)}\n`);
    return 0;
  }
  if (sessions.length === 0) terminal.err("There are no sessions yet.\n");
  for (const { key, updatedAt, bytes, preview } of sessions) {
    const kib = `${Math.ceil(bytes / 1024)} KiB`;
    terminal.out(`${oneLine(key, 200)}\t${updatedAt.slice(0, 16).replace("T", " ")}\t${kib}\t${preview}\n`);
  }
  return 0;
}

async function requireSession({ app, positionals }: CommandContext): Promise<string> {
  const [key = ""] = positionals;
  const store = await app.sessions();
  if (await store.exists(key)) return key;
  const suggestion = nearest(key, await store.keys());
  throw new UserError(`There is no session ${quote(key)}`, {
    hint:
      suggestion === undefined
        ? 'Run "nanobot sessions list" for those there are'
        : `Did you mean ${quote(suggestion)}?`,
  });
}

function* describe(line: StoredMessage): Generator<string> {
  const time = line.timestamp ? ` ${line.timestamp.slice(0, 16).replace("T", " ")}` : "";
  const name = line.role === "tool" ? `tool ${line.name ?? ""}` : line.role;
  yield `\n${name}${time}`;
  for (const file of line.media ?? []) yield fileLabel(file);
  if (line.content !== "") yield line.content;
  for (const call of line.tool_calls ?? []) yield `↳ ${toolHint(call.function, 200)}`;
}

async function show(context: CommandContext): Promise<ExitCode> {
  const { terminal } = context.app.platform;
  const key = await requireSession(context);
  const store = await context.app.sessions();
  if (context.options["json"] === true) {
    const messages: StoredMessage[] = [];
    for await (const line of store.read(key, context.signal)) messages.push(line);
    terminal.out(`${safeJson({ key, path: await store.path(key), messages }, 2)}\n`);
    return 0;
  }
  for await (const line of store.read(key, context.signal)) {
    for (const part of describe(line)) terminal.out(`${stripControls(part)}\n`);
  }
  return 0;
}

async function path({ app, positionals, options }: CommandContext): Promise<ExitCode> {
  const [key = ""] = positionals;
  if (key === "") throw new UserError("A session key cannot be empty");
  const store = await app.sessions();
  const found = { key, path: await store.path(key), exists: await store.exists(key) };
  app.platform.terminal.out(options["json"] === true ? `${safeJson(found)}\n` : `${found.path}\n`);
  return 0;
}

export const command = defineCommand({
  about: "List and show conversations",
  subcommands: {
    list: { about: "List all sessions, newest first", options: { json }, run: list },
    show: { about: "Print a session from its beginning", positionals: ["KEY"], options: { json }, run: show },
    replay: {
      about: "Print a turn in full: the last one, or the one named; exit code 1 when a dry run differs",
      positionals: ["KEY"],
      options: {
        turn: { type: "string", value: "ID", about: "the turn with this id" },
        dry: { type: "boolean", about: "run the loop on what is recorded, and show what would differ" },
        json,
      },
      run: async (context) => replay(context, await requireSession(context)),
    },
    path: {
      about: "Print where a session's file is, or would be",
      positionals: ["KEY"],
      options: { json },
      run: path,
    },
  },
});

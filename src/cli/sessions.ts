/** `nanobot sessions`: what was said, and where it lies. */

import { UserError } from "../core/errors.ts";
import type { StoredMessage } from "../core/session.ts";
import { fileLabel } from "../lib/breadcrumb.ts";
import { quote } from "../lib/file-error.ts";
import { nearest } from "../lib/nearest.ts";
import { safeJson } from "../lib/safe-json.ts";
import { oneLine, stripControls } from "../lib/text.ts";
import { toolHint } from "../lib/tool-hint.ts";
import { BY_HAND } from "./by-hand.ts";
import { type CommandContext, defineCommand, type ExitCode } from "./command.ts";
import { masked } from "./masked.ts";
import { replay } from "./replay.ts";

const json = { type: "boolean", about: "print JSON" } as const;

async function list({ app, options }: CommandContext): Promise<ExitCode> {
  const { terminal } = app.platform;
  const sessions = masked(await (await app.sessions()).list(), app.mask);
  if (options["json"] === true) {
    terminal.out(`${safeJson(sessions, 2)}\n`);
    return 0;
  }
  if (sessions.length === 0) terminal.err("There are no sessions yet.\n");
  for (const { key, updatedAt, bytes, preview } of sessions) {
    const kib = `${Math.ceil(bytes / 1024)} KiB`;
    const cells = [oneLine(key, 200), updatedAt.slice(0, 16).replace("T", " "), kib, preview];
    terminal.out(`${app.mask(cells.join("\t"))}\n`);
  }
  return 0;
}

async function requireSession({ app, positionals }: CommandContext): Promise<string> {
  const [key = ""] = positionals;
  const store = await app.sessions();
  if (await store.exists(key)) return key;
  throw new UserError(`There is no session ${quote(key)}`, { hint: hintFor(key, await store.keys()) });
}

function hintFor(key: string, keys: readonly string[]): string {
  if (key === BY_HAND)
    return `Calls by hand keep no session. Run "nanobot audit list --session ${BY_HAND}" for them, and "nanobot audit show ID" for one`;
  const suggestion = nearest(key, keys);
  return suggestion === undefined
    ? 'Run "nanobot sessions list" for those there are'
    : `Did you mean ${quote(suggestion)}?`;
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
  const { app } = context;
  const { terminal } = app.platform;
  const key = await requireSession(context);
  const store = await app.sessions();
  if (context.options["json"] === true) {
    const messages: StoredMessage[] = [];
    for await (const line of store.read(key, context.signal)) messages.push(line);
    const found = { key, path: await store.path(key), messages };
    terminal.out(`${safeJson(masked(found, app.mask), 2)}\n`);
    return 0;
  }
  for await (const line of store.read(key, context.signal)) {
    // Once more, because what controls had parted is one text without them.
    for (const part of describe(masked(line, app.mask))) terminal.out(`${app.mask(stripControls(part))}\n`);
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

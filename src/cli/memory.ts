/** `nanobot memory`: what the agent remembers, what it did before, and what was said about something. */

import { UserError } from "../core/errors.ts";
import type { MemoryHit, MemoryVersion } from "../core/memory.ts";
import { quote } from "../lib/file-error.ts";
import { nearest } from "../lib/nearest.ts";
import { join } from "../lib/path.ts";
import { safeJson } from "../lib/safe-json.ts";
import { oneLine, stripControls } from "../lib/text.ts";
import { showMoment } from "../lib/zoned-time.ts";
import { type CommandContext, defineCommand, type ExitCode, textOption } from "./command.ts";
import { masked } from "./masked.ts";
import { unifiedDiff } from "./unified-diff.ts";

const FACTS = "memory/MEMORY.md";
const HISTORY_ENTRIES = 20;
const MOST_ENTRIES = 10_000;
const HITS = 8;
const MOST_HITS = 100;
const LONGEST_SOURCE = 200;
const MINUTE_MS = 60_000;
/** As many as are kept. */
const MOST_LISTED = 20;
const NONE_KEPT = "None is kept yet; one is each time that the file is replaced";

const json = { type: "boolean", about: "print JSON" } as const;

function printJson({ app }: CommandContext, found: object): void {
  app.platform.terminal.out(`${safeJson(masked(found, app.mask), 2)}\n`);
}

/** With a newline at its end. */
function print({ app }: CommandContext, text: string): void {
  // Once more, because what controls had parted is one text without them.
  const shown = app.mask(stripControls(app.mask(text)));
  app.platform.terminal.out(shown.endsWith("\n") ? shown : `${shown}\n`);
}

function numberOption({ options }: CommandContext, name: string, usual: number, most: number): number {
  const text = textOption(options, name);
  if (text === undefined) return usual;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= most) return number;
  throw new UserError(`Cannot take ${quote(text)} for --${name}`, {
    hint: `Say a whole number from 1 to ${most}`,
  });
}

/** `time` is ISO 8601; what is shown is the clock on the agent's wall, as in the history. */
async function createShowTime({ app }: CommandContext): Promise<(time: string) => string> {
  const { timeZone } = await app.memory();
  return (time) => showMoment(Math.floor(Date.parse(time) / MINUTE_MS) * MINUTE_MS, timeZone);
}

async function show(context: CommandContext): Promise<ExitCode> {
  const { app, options } = context;
  const text = await (await app.memory()).facts();
  const path = join((await app.paths()).workspace, FACTS);
  if (options["json"] === true) {
    printJson(context, { path, text });
    return 0;
  }
  if (text.trim() === "") app.platform.terminal.err("Nothing is remembered yet.\n");
  else print(context, text);
  app.platform.terminal.err(`The file is ${app.mask(path)}\n`);
  return 0;
}

async function history(context: CommandContext): Promise<ExitCode> {
  const { app, options } = context;
  const limit = numberOption(context, "number", HISTORY_ENTRIES, MOST_ENTRIES);
  const entries = await (await app.memory()).history({ limit });
  if (options["json"] === true) {
    printJson(context, entries);
    return 0;
  }
  if (entries.length === 0) app.platform.terminal.err("Nothing is recorded yet.\n");
  for (const { at, text } of entries) print(context, at === undefined ? text : `[${at}] ${text}`);
  return 0;
}

async function versions(context: CommandContext): Promise<ExitCode> {
  const { app, options } = context;
  const found = await (await app.memory()).versions();
  if (options["json"] === true) {
    printJson(context, found);
    return 0;
  }
  if (found.length === 0) app.platform.terminal.err(`${FACTS} was never replaced.\n`);
  const shown = await createShowTime(context);
  for (const { id, replacedAt, bytes } of found)
    print(context, `${id}  replaced ${shown(replacedAt)}  ${bytes} bytes`);
  return 0;
}

/** The version named `id`, or the newest one. */
async function requireVersion({ app }: CommandContext, id: string | undefined) {
  const memory = await app.memory();
  const known = await memory.versions();
  const version = id === undefined ? known[0] : known.find((one) => one.id === id);
  const text = version === undefined ? undefined : await memory.version(version.id);
  if (version === undefined || text === undefined) throw unknownVersion(id, known);
  return { version, text };
}

function unknownVersion(id: string | undefined, known: readonly MemoryVersion[]): UserError {
  const ids = known.slice(0, MOST_LISTED).map((one) => one.id);
  if (id === undefined) {
    return new UserError(`There is no other version of ${FACTS}`, { hint: NONE_KEPT, exitCode: 1 });
  }
  const meant = nearest(id, ids);
  const list = ids.length === 0 ? NONE_KEPT : `There are: ${ids.join(", ")}`;
  return new UserError(`There is no version ${quote(id)} of ${FACTS}`, {
    hint: meant === undefined ? list : `Did you mean ${quote(meant)}? ${list}`,
  });
}

async function diff(context: CommandContext): Promise<ExitCode> {
  const { version, text } = await requireVersion(context, context.positionals[0]);
  const now = await (await context.app.memory()).facts();
  const replacedAt = (await createShowTime(context))(version.replacedAt);
  const changes = unifiedDiff(
    { name: `${FACTS} (${version.id}, replaced ${replacedAt})`, text },
    { name: FACTS, text: now },
  );
  if (changes === "") context.app.platform.terminal.err(`${FACTS} says the same as ${version.id}.\n`);
  else print(context, changes);
  return 0;
}

async function restore(context: CommandContext): Promise<ExitCode> {
  const { app, positionals } = context;
  const { version, text } = await requireVersion(context, positionals[0]);
  const memory = await app.memory();
  const seen = await memory.facts();
  if (seen === text) {
    app.platform.terminal.out(`${FACTS} says that already\n`);
    return 0;
  }
  if (!(await memory.replaceFacts(text, { seen }))) {
    throw new UserError(`Cannot restore ${FACTS}: it was changed meanwhile`, {
      hint: "Try again",
      exitCode: 1,
    });
  }
  const kept = seen === "" ? undefined : (await memory.versions())[0];
  const note = kept === undefined ? "" : `; what was there is kept as ${kept.id}`;
  app.platform.terminal.out(`Restored ${FACTS} from ${version.id}${note}\n`);
  return 0;
}

function describe({ at, source, role, excerpt }: MemoryHit, shown: (time: string) => string): string {
  const facts = [oneLine(source, LONGEST_SOURCE), ...(role ? [role] : []), ...(at ? [shown(at)] : [])];
  return `${facts.join("  ")}\n  ${excerpt}`;
}

async function search(context: CommandContext): Promise<ExitCode> {
  const { app, positionals, options, signal } = context;
  const text = positionals.join(" ");
  const limit = numberOption(context, "limit", HITS, MOST_HITS);
  const hits = await (await app.memorySearch()).search(text, { limit, signal });
  if (options["json"] === true) {
    printJson(context, hits);
    return 0;
  }
  if (hits.length === 0) app.platform.terminal.err("Nothing was found.\n");
  const shown = await createShowTime(context);
  for (const hit of hits) print(context, describe(hit, shown));
  return 0;
}

export const command = defineCommand({
  about: "Show, search and restore what the agent remembers",
  subcommands: {
    show: { about: "Print the facts that are in every prompt (MEMORY.md)", options: { json }, run: show },
    history: {
      about: "Print what was recorded last, the newest at the end (HISTORY.md)",
      options: {
        number: { type: "string", short: "n", value: "N", about: `so many entries (${HISTORY_ENTRIES})` },
        json,
      },
      run: history,
    },
    versions: {
      about: "List what MEMORY.md said before, newest first",
      options: { json },
      run: versions,
    },
    diff: {
      about: "Print what changed since a version of MEMORY.md: the one named, or the newest",
      positionals: ["ID?"],
      run: diff,
    },
    restore: {
      about: "Put a version in the place of MEMORY.md, which is kept as a version itself",
      positionals: ["ID"],
      ownerOnly: true,
      run: restore,
    },
    search: {
      about: "Search the memory and all conversations, the best first",
      positionals: ["TEXT..."],
      options: { limit: { type: "string", value: "N", about: `at most so many (${HITS})` }, json },
      run: search,
    },
  },
});

/** The chat commands: what a message that begins with `/` means in every channel. */

import type { ChannelStatus } from "../core/channel.ts";
import { UserError } from "../core/errors.ts";
import type { InboundMessage } from "../core/messages.ts";
import type { Session } from "../core/session.ts";
import { type ChatCommandInfo, type ChatCommandName, chatCommands } from "../lib/chat-commands.ts";
import { modelNameProblem } from "../lib/model-name.ts";
import { nearest } from "../lib/nearest.ts";
import {
  MISSING_HERE,
  modelChosen,
  modelInUse,
  modelNotChosen,
  NEW_SESSION,
  ONLY_KNOWN,
  problemOf,
  RESTARTING,
  remembered,
  stopped,
  takesNoArguments,
  tasksInWords,
  unknownCommand,
} from "../lib/phrases.ts";
import { clip, oneLine } from "../lib/text.ts";
import { approve, deny, isKnown, pairing } from "./access-commands.ts";
import type { CommandHandler, CommandPort, Reply } from "./command-port.ts";
import { openSession } from "./turn.ts";

async function withSession<T>(
  { deps, message, signal }: CommandPort,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await openSession(message, deps, signal);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

async function startNewSession(port: CommandPort): Promise<string> {
  const { deps, stopSession, inLane } = port;
  const archive = async (session: Session) => {
    const path = await session.archive(deps.models.kept(session));
    if (path !== undefined) deps.consolidation?.archived({ key: session.key, path });
  };
  // Its place in the lane is taken first, so that a message that comes meanwhile begins the new session.
  const archived = inLane(() => withSession(port, archive));
  // It fails before anybody waits for it when stopping takes longer.
  archived.catch(() => {});
  await stopSession();
  await archived;
  return NEW_SESSION;
}

async function status({ deps, message, active, leftRunning, startedAt }: CommandPort): Promise<string> {
  // Asked of the session itself it would wait for whatever holds the session.
  const { name, why, fallbacks } = deps.models.lastOf(message.sessionKey) ?? deps.models.standard;
  const commands = await leftRunning();
  const tasks = deps.services.tasks?.count(message.sessionKey) ?? 0;
  const now = deps.clock.now();
  return [
    `nanobot ${deps.version}`,
    `Model: ${name} (${why})`,
    ...(fallbacks.length === 0 ? [] : [`If it fails: ${fallbacks.join(", ")}`]),
    `Session: ${message.sessionKey}`,
    `Running: ${active()}`,
    ...(commands === 0 ? [] : [`Commands that go on: ${commands}`]),
    ...(tasks === 0 ? [] : [`Tasks in the background: ${tasks}`]),
    `Up: ${inWords(now - startedAt)}`,
    ...(deps.services.channels?.() ?? []).map((channel) => channelLine(channel, now)),
  ].join("\n");
}

function channelLine({ name, state, detail, heardAt }: ChannelStatus, now: number): string {
  const why = detail === undefined ? "" : ` (${oneLine(detail, 120)})`;
  const heard = heardAt === undefined ? "never heard" : `heard ${inWords(now - Date.parse(heardAt))} ago`;
  return `Channel ${name}: ${state}${why}, ${heard}`;
}

function inWords(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** What puts the configured model back. */
const STANDARD = "default";

async function model(port: CommandPort, name: string): Promise<string> {
  const { inLane } = port;
  const { models } = port.deps;
  if (name === "") {
    const known = models.lastOf(port.message.sessionKey);
    const inUse = known ?? (await inLane(() => withSession(port, (session) => models.of(session))));
    return modelInUse(inUse, models.presets);
  }
  const problem = modelNameProblem(name);
  if (problem !== undefined) throw new UserError(modelNotChosen(clip(name, 80), problem, models.presets));
  try {
    const wanted = name.toLowerCase() === STANDARD ? undefined : name;
    const choice = await inLane(() => withSession(port, (session) => models.choose(session, wanted)));
    return modelChosen(choice.name, choice.why);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(modelNotChosen(name, problemOf(error), models.presets));
  }
}

async function restart(port: CommandPort): Promise<string | Reply> {
  const { deps, message } = port;
  const { restart: begin } = deps.services;
  if (begin === undefined) return MISSING_HERE.restart;
  if (!(await isKnown(port))) return ONLY_KNOWN;
  return { content: RESTARTING, afterwards: () => begin(message) };
}

async function memory({ deps }: CommandPort): Promise<string> {
  const { memory: store } = deps.services;
  if (store === undefined) return MISSING_HERE.memory;
  const [facts, history] = await Promise.all([store.facts(), store.history({ limit: SHOWN_ENTRIES })]);
  return remembered(clip(facts.trim(), LONGEST_SHOWN), history);
}

async function tasks({ deps, message }: CommandPort): Promise<string> {
  const { tasks: list } = deps.services;
  if (list === undefined) return MISSING_HERE.tasks;
  const own = list.list().filter(({ sessionKey }) => sessionKey === message.sessionKey);
  return tasksInWords(own, deps.clock.now());
}

async function help(): Promise<string> {
  return chatCommands.map(helpLine).join("\n");
}

function helpLine({ name, about, takes }: ChatCommandInfo): string {
  return `/${name}${takes === undefined ? "" : ` ${takes}`} - ${about}`;
}

const handlers: Readonly<Record<ChatCommandName, CommandHandler>> = {
  new: startNewSession,
  stop: async ({ stopSession }) => stopped(await stopSession()),
  status,
  model,
  usage: ({ deps, message }) => deps.services.usage(message.sessionKey),
  memory,
  tasks,
  approve,
  deny,
  pairing,
  restart,
  help,
};

/** Entries of the history that `/memory` shows, and characters of the facts. */
const SHOWN_ENTRIES = 5;
const LONGEST_SHOWN = 6_000;

/** Of a word that is no command, in the answer to it. */
const LONGEST_WORD = 40;

/**
 * The command of a message: `/word`, with a `@botname` behind it or not. A path like `/etc/hosts` is none. `_` is as
 * good as `-`, which some platforms have no place for.
 */
function parseCommand(text: string): { name: string; rest: string } | undefined {
  const found = /^\/(\p{L}[\p{L}\p{N}_-]*)(?:@\w+)?(?:\s+([\s\S]*))?$/u.exec(text.trim());
  return found?.[1] === undefined
    ? undefined
    : { name: found[1].toLowerCase().replaceAll("_", "-"), rest: found[2]?.trim() ?? "" };
}

export type RunCommand = (port: CommandPort) => Promise<string | Reply>;

/** What to do for `message` if it is a command; `undefined` when it is for the model. */
export function chatCommand(message: InboundMessage): RunCommand | undefined {
  if (message.kind !== "message" || message.origin !== "chat") return undefined;
  const parsed = parseCommand(message.content);
  if (parsed === undefined) return undefined;
  const { name, rest } = parsed;
  const names = chatCommands.map((command) => command.name);
  const command: ChatCommandInfo | undefined = chatCommands.find((known) => known.name === name);
  if (command === undefined)
    return async () => unknownCommand(clip(name, LONGEST_WORD), nearest(name, names));
  if (rest !== "" && command.takes === undefined) return async () => takesNoArguments(name);
  const run = handlers[command.name as ChatCommandName];
  return (port) => run(port, rest);
}

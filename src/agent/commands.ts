/** The chat commands: what a message that begins with `/` means in every channel. */

import { UserError } from "../core/errors.ts";
import type { InboundMessage } from "../core/messages.ts";
import type { Session } from "../core/session.ts";
import { modelNameProblem } from "../lib/model-name.ts";
import { nearest } from "../lib/nearest.ts";
import {
  modelChosen,
  modelInUse,
  modelNotChosen,
  NEW_SESSION,
  problemOf,
  stopped,
  takesNoArguments,
  unknownCommand,
} from "../lib/phrases.ts";
import { clip } from "../lib/text.ts";
import type { AgentDeps } from "./deps.ts";
import { openSession } from "./turn.ts";

/** What dispatch does for a command. */
interface CommandPort {
  readonly deps: AgentDeps;
  readonly message: InboundMessage;
  /** Aborted at shutdown. */
  readonly signal: AbortSignal;
  /** Turns that run or wait, over all sessions. */
  readonly active: () => number;
  /** Commands of this session that go on. */
  leftRunning(): Promise<number>;
  readonly startedAt: number;
  /**
   * Ends what runs and waits in this session now, commands that go on included, takes over answering it, and
   * resolves to how many that were.
   */
  stopSession(): Promise<number>;
  /** Runs `task` after what is in the session's lane now, and before what comes later. */
  inLane<T>(task: () => Promise<T>): Promise<T>;
}

interface ChatCommand {
  readonly about: string;
  /** What comes behind it, for the list; absent when nothing may. */
  readonly takes?: string;
  /** Resolves to the reply. `rest` is what stood behind it. */
  run(port: CommandPort, rest: string): Promise<string>;
}

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
  const archive = (session: Session) => session.archive(deps.models.kept(session));
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
  const minutes = Math.floor((deps.clock.now() - startedAt) / 60_000);
  return [
    `nanobot ${deps.version}`,
    `Model: ${name} (${why})`,
    ...(fallbacks.length === 0 ? [] : [`If it fails: ${fallbacks.join(", ")}`]),
    `Session: ${message.sessionKey}`,
    `Running: ${active()}`,
    ...(commands === 0 ? [] : [`Commands that go on: ${commands}`]),
    `Up: ${minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`}`,
  ].join("\n");
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

const commands: Readonly<Record<string, ChatCommand>> = {
  new: { about: "start a new session; the old one is kept in the archive", run: startNewSession },
  stop: {
    about: "stop what is running in this session",
    run: async ({ stopSession }) => stopped(await stopSession()),
  },
  model: { about: "show the model of this session, or choose another", takes: "[name]", run: model },
  status: { about: "show version, model and what is running", run: status },
  help: {
    about: "show this list",
    run: async () =>
      Object.entries(commands)
        .map(([name, { about, takes }]) => `/${name}${takes ? ` ${takes}` : ""} - ${about}`)
        .join("\n"),
  },
};

/** The command of a message: `/word`, with a `@botname` behind it or not. A path like `/etc/hosts` is none. */
function parseCommand(text: string): { name: string; rest: string } | undefined {
  const found = /^\/([a-z][a-z0-9_-]*)(?:@\w+)?(?:\s+([\s\S]*))?$/i.exec(text.trim());
  return found?.[1] === undefined
    ? undefined
    : { name: found[1].toLowerCase(), rest: found[2]?.trim() ?? "" };
}

export type RunCommand = (port: CommandPort) => Promise<string>;

/** What to do for `message` if it is a command; `undefined` when it is for the model. */
export function chatCommand(message: InboundMessage): RunCommand | undefined {
  if (message.kind !== "message" || message.origin !== "chat") return undefined;
  const parsed = parseCommand(message.content);
  if (parsed === undefined) return undefined;
  const { name, rest } = parsed;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) return async () => unknownCommand(name, nearest(name, Object.keys(commands)));
  if (rest !== "" && command.takes === undefined) return async () => takesNoArguments(name);
  return (port) => command.run(port, rest);
}

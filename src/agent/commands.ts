/** The chat commands: what a message that begins with `/` means in every channel. */

import type { InboundMessage } from "../core/messages.ts";
import { nearest } from "../lib/nearest.ts";
import { NEW_SESSION, stopped, takesNoArguments, unknownCommand } from "../lib/phrases.ts";
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
  readonly startedAt: number;
  /** Ends what runs and waits in this session now, takes over answering it, and resolves to how many that were. */
  stopSession(): Promise<number>;
  /** Runs `task` after what is in the session's lane now, and before what comes later. */
  inLane<T>(task: () => Promise<T>): Promise<T>;
}

interface ChatCommand {
  readonly about: string;
  /** Resolves to the reply. */
  run(port: CommandPort): Promise<string>;
}

async function startNewSession({ deps, message, signal, stopSession, inLane }: CommandPort): Promise<string> {
  // Its place in the lane is taken first, so that a message that comes meanwhile begins the new session.
  const archived = inLane(async () => {
    const session = await openSession(message, deps, signal);
    try {
      await session.archive();
    } finally {
      await session.close();
    }
  });
  // It fails before anybody waits for it when stopping takes longer.
  archived.catch(() => {});
  await stopSession();
  await archived;
  return NEW_SESSION;
}

async function status({ deps, message, active, startedAt }: CommandPort): Promise<string> {
  const minutes = Math.floor((deps.clock.now() - startedAt) / 60_000);
  return [
    `nanobot ${deps.version}`,
    `Model: ${deps.model.name} (${deps.model.why})`,
    `Session: ${message.sessionKey}`,
    `Running: ${active()}`,
    `Up: ${minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`}`,
  ].join("\n");
}

const commands: Readonly<Record<string, ChatCommand>> = {
  new: { about: "start a new session; the old one is kept in the archive", run: startNewSession },
  stop: {
    about: "stop what is running in this session",
    run: async ({ stopSession }) => stopped(await stopSession()),
  },
  status: { about: "show version, model and what is running", run: status },
  help: {
    about: "show this list",
    run: async () =>
      Object.entries(commands)
        .map(([name, { about }]) => `/${name} - ${about}`)
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
  return rest === "" ? command.run : async () => takesNoArguments(name);
}

/** Finds a turn in a session's file, and runs the loop on it again where that is wanted. */

import { UserError } from "../core/errors.ts";
import type { SystemMessage } from "../core/model.ts";
import type { ReplayOptions, TurnReplay } from "../core/replay.ts";
import type { SessionStore, StoredMessage } from "../core/session.ts";
import { quote } from "../lib/file-error.ts";
import { type RerunDeps, rerun } from "./rerun.ts";

export interface ReplayDeps extends RerunDeps {
  readonly sessions: Pick<SessionStore, "read">;
  readonly systemPrompt: () => Promise<SystemMessage>;
}

export async function replayTurn(
  { key, turn: wanted, dry }: ReplayOptions,
  deps: ReplayDeps,
  signal: AbortSignal,
): Promise<TurnReplay> {
  const read = () => inTurns(deps.sessions.read(key, signal));
  const turn = wanted ?? (await lastTurn(read()));
  const messages: StoredMessage[] = [];
  for await (const line of read()) if (line.turn === turn) messages.push(line.message);
  if (messages.length === 0) {
    throw new UserError(
      wanted === undefined
        ? `The session ${quote(key)} has no turn yet`
        : `There is no turn ${quote(wanted)} in the session ${quote(key)}`,
      { hint: `"nanobot sessions show KEY --json" has the id of each line's turn` },
    );
  }
  const system = await deps.systemPrompt();
  const id = messages.find((message) => message.turn !== undefined)?.turn;
  return {
    ...(id === undefined ? {} : { turn: id }),
    systemPromptNow: system.content,
    messages,
    ...(dry ? { differences: await rerun({ turn: id, system, messages }, deps, signal) } : {}),
  };
}

interface LineOfTurn {
  readonly turn: string;
  readonly message: StoredMessage;
}

/** A line without a turn belongs to the one before it, and a user's begins a turn of its own. */
async function* inTurns(lines: AsyncIterable<StoredMessage>): AsyncGenerator<LineOfTurn> {
  let nameless = 0;
  let turn = "";
  for await (const message of lines) {
    if (message.turn !== undefined) turn = message.turn;
    // No id begins like this, so that nobody can ask for it either.
    else if (message.role === "user") turn = `\0${++nameless}`;
    yield { turn, message };
  }
}

/** A note is no turn: nobody asked for anything. */
async function lastTurn(lines: AsyncIterable<LineOfTurn>): Promise<string | undefined> {
  let last: string | undefined;
  for await (const { turn, message } of lines) if (message.role === "user") last = turn;
  return last;
}

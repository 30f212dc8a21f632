/** Puts what the user said into the session: the message that starts a turn, and those that join it. */

import type { InboundId, InboundMessage } from "../core/messages.ts";
import type { ChatMessage } from "../core/model.ts";
import type { StoredMessage } from "../core/session.ts";
import { toStored } from "../lib/transcript.ts";
import type { AgentDeps } from "./deps.ts";
import type { Recorder } from "./recorder.ts";
import type { RunningTurn } from "./running-turn.ts";

/** A message that came before is not added again, unless the session went on without an answer to it. */
export async function addUserLine({ message, session, deps, port }: RunningTurn): Promise<void> {
  if (session.has(message.id)) {
    const last = session.messages.at(-1);
    const isBuried = last?.role === "assistant" && last.tool_calls === undefined;
    if (!port.isRedelivered || !isBuried) return;
  }
  await session.append([await userLine(message, message.id, deps)], { sync: false });
}

async function userLine(message: InboundMessage, turn: InboundId, deps: AgentDeps): Promise<StoredMessage> {
  return toStored(
    { role: "user", content: message.content },
    {
      timestamp: message.timestamp,
      turn,
      inbound: message.id,
      runtime: await runtimeOf(message, deps),
      ...(message.media.length > 0 ? { media: message.media } : {}),
    },
  );
}

/** The facts of the moment, and the skills that the user named. */
async function runtimeOf(message: InboundMessage, deps: AgentDeps): Promise<string> {
  const context = deps.runtimeContext(message, deps.clock.now());
  // What came of a task quotes whatever it found, and only people name skills.
  if (deps.skills === undefined || message.origin === "subagent" || !message.content.includes("$"))
    return context;
  const named = await deps.skills.named(message.content);
  return named === "" ? context : `${context}\n\n${named}`;
}

/** Adds to the turn what was said while it ran. */
export async function takeIn(
  { message, session, deps, port, joined }: RunningTurn,
  recorder: Recorder,
): Promise<readonly ChatMessage[]> {
  const messages = port.join(({ id }) => !session.has(id));
  if (messages.length === 0) return [];
  joined.push(...messages.map(({ id }) => id));
  recorder.joined();
  const lines = await Promise.all(messages.map((one) => userLine(one, message.id, deps)));
  await session.append(lines, { sync: false });
  return deps.images.loadWindow(lines);
}

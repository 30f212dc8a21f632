/** Takes up what a turn left that a process began which ended: what is done stays, and every call comes to its end. */

import type { InboundId, InboundMessage } from "../core/messages.ts";
import type { Session, StoredMessage, StoredToolCall } from "../core/session.ts";
import type { ToolRun } from "../core/tool-run.ts";
import { INTERRUPTED } from "../lib/tool-failure.ts";
import { toCall, toStored } from "../lib/transcript.ts";
import { interruptedEntry } from "./audit-entry.ts";
import { roundsBehind } from "./call-id.ts";
import { type AgentDeps, timestamp } from "./deps.ts";
import type { Recorder } from "./recorder.ts";
import { inOrder, runCalls } from "./run-calls.ts";

/** What a session holds of one turn. */
export interface Begun {
  readonly lines: readonly StoredMessage[];
  /** Messages of the user that joined it. */
  readonly joined: readonly InboundId[];
  /** Replies with calls. */
  readonly rounds: number;
  /** Its last line, when that is its answer. */
  readonly answer: StoredMessage | undefined;
  /** Calls of its last reply that have no result. */
  readonly open: readonly StoredToolCall[];
}

export const notBegun: Begun = { lines: [], joined: [], rounds: 0, answer: undefined, open: [] };

export function begunTurn(messages: readonly StoredMessage[], turn: InboundId): Begun {
  const lines = messages.filter((line) => line.turn === turn);
  const last = lines.at(-1);
  const reply = lines.findLast(({ role }) => role === "assistant");
  // Whoever closed a call, its result counts.
  const results = new Set(messages.map((line) => line.tool_call_id));
  const calls = lines.flatMap(({ tool_calls = [], tool_call_id: id }) => [
    ...tool_calls.map((call) => call.id),
    ...(id === undefined ? [] : [id]),
  ]);
  return {
    lines,
    joined: lines.flatMap(({ role, inbound }) =>
      role === "user" && inbound !== undefined && inbound !== turn ? [inbound] : [],
    ),
    rounds: roundsBehind(turn, calls),
    answer: last?.role === "assistant" && last.tool_calls === undefined ? last : undefined,
    open: (reply?.tool_calls ?? []).filter(({ id }) => !results.has(id)),
  };
}

/**
 * Runs the open calls of a turn to their end, as the loop would have. The first may have begun: it is not run
 * again if it can change anything, unless it is known to wait for the owner, or running it again changes nothing more.
 * Those behind it have surely not.
 */
export async function finishCalls(
  message: InboundMessage,
  open: readonly StoredToolCall[],
  { session, recorder, run, deps }: { session: Session; recorder: Recorder; run: ToolRun; deps: AgentDeps },
): Promise<void> {
  const [first] = open;
  if (first === undefined) return;
  const { name } = first.function;
  const { toolbox, isWaiting } = deps;
  const isSafe = toolbox.isReadOnly(name) || toolbox.isRepeatable?.(name) === true || isWaiting(first.id);
  if (!isSafe) await closeCalls(message, [first], session, deps);
  const emit = inOrder(recorder.record);
  await runCalls(open.slice(isSafe ? 0 : 1).map(toCall), { tools: deps.toolbox, run, emit });
}

/** Nobody knows how far these calls of the turn came: each gets a result that says so, and a line in the audit. */
export async function closeCalls(
  message: InboundMessage,
  calls: readonly StoredToolCall[],
  session: Session,
  deps: AgentDeps,
): Promise<void> {
  await appendInterrupted(calls, session, deps, message.id);
  for (const call of calls) deps.audit(interruptedEntry(call, message.id, message, deps.mask));
}

/** The same for all that was left open and that nobody takes up any more: all but `own`. */
export async function closeLeftOpen(
  message: InboundMessage,
  own: readonly StoredToolCall[],
  session: Session,
  deps: AgentDeps,
): Promise<void> {
  const kept = new Set(own.map(({ id }) => id));
  const open = session.openCalls().filter(({ id }) => !kept.has(id));
  if (open.length === 0) return;
  const maker = new Map(
    session.messages.flatMap((line) => (line.tool_calls ?? []).map(({ id }) => [id, line.turn])),
  );
  await appendInterrupted(open, session, deps);
  for (const call of open) deps.audit(interruptedEntry(call, maker.get(call.id), message, deps.mask));
}

async function appendInterrupted(
  calls: readonly StoredToolCall[],
  session: Session,
  deps: AgentDeps,
  turn?: InboundId,
): Promise<void> {
  const lines = calls.map((call) =>
    toStored(
      { role: "tool", toolCallId: call.id, name: call.function.name, content: INTERRUPTED },
      { timestamp: timestamp(deps), ...(turn === undefined ? {} : { turn }) },
    ),
  );
  await session.append(lines, { sync: false });
}

/** A turn: one message from start to finish. Load the session, build the prompt, run the loop, save, publish. */

import type { ModelChoice } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import { type InboundMessage, sourceOf } from "../core/messages.ts";
import type { ChatMessage } from "../core/model.ts";
import type { Session } from "../core/session.ts";
import type { ToolRun } from "../core/tool-run.ts";
import { problemOf, turnFailed, WAITING_FOR_SESSION } from "../lib/phrases.ts";
import { messageTokens, toolTokens } from "../lib/request-tokens.ts";
import { toStored } from "../lib/transcript.ts";
import { messageBudget } from "./context.ts";
import { type AgentDeps, timestamp } from "./deps.ts";
import { finish, giveUp, publishAnswer } from "./end-turn.ts";
import { runLoop } from "./loop.ts";
import { publish, publishResult, routeOf } from "./publish.ts";
import { createRecorder } from "./recorder.ts";
import { begunTurn, closeLeftOpen, finishCalls, notBegun } from "./resume.ts";
import type { RunningTurn, TurnPort, TurnStatus } from "./running-turn.ts";
import { withSummary } from "./summary.ts";
import { addUserLine, takeIn } from "./user-lines.ts";

/** When somebody is told that another process has the session. */
const PATIENCE_MS = 1_000;

/** A turn that began so often and got no further ends. */
const MOST_STARTS = 5;

const alone: TurnPort = { isRedelivered: false, resume: async () => 1, rejoin: () => {}, join: () => [] };

/**
 * Ends with one durable final message, unless `signal` was aborted: then whoever aborted it answers. The
 * session has every call closed by its result in any case, but for one that waits for the owner while the program
 * ends. A note has no final message. Rejects only when the bus does.
 */
export async function runTurn(
  message: InboundMessage,
  deps: AgentDeps,
  signal: AbortSignal,
  port: TurnPort = alone,
): Promise<TurnStatus> {
  let turn: RunningTurn | undefined;
  try {
    const session = await openSession(message, deps, signal);
    try {
      if (message.kind === "note") return await addNote(message, session, deps);
      turn = { message, session, deps, signal, port, joined: [], isAnswered: false, budget: 0 };
      return await answer(turn);
    } finally {
      await session.close();
    }
  } catch (error) {
    if (signal.aborted) return "stopped";
    if (turn?.isAnswered === true) throw error;
    // What the user can mend is told to the user; anything else is for the log too.
    if (message.kind === "note" || !(error instanceof UserError))
      deps.log.error("Turn failed", { turn: message.id, error });
    if (message.kind === "message") {
      const content = turnFailed(problemOf(error));
      await publishResult(message, deps, signal, { outcome: "error", content, answers: turn?.joined ?? [] });
    }
    return "failed";
  }
}

/** Waits for the session, and says so when another process has it. */
export async function openSession(
  message: InboundMessage,
  deps: AgentDeps,
  signal: AbortSignal,
): Promise<Session> {
  const callOff = deps.clock.after(PATIENCE_MS, () => {
    // Nobody waits for a note.
    if (message.kind === "note") return;
    publish(message, deps, { kind: "progress", content: WAITING_FOR_SESSION }).catch((error: unknown) =>
      deps.log.debug("Progress was not shown", { error }),
    );
  });
  try {
    return await deps.sessions.open(message.sessionKey, { signal });
  } finally {
    callOff();
  }
}

async function addNote(
  { id, content }: InboundMessage,
  session: Session,
  deps: AgentDeps,
): Promise<TurnStatus> {
  if (session.messages.some(({ turn }) => turn === id)) return "noted";
  const line = toStored({ role: "assistant", content }, { timestamp: timestamp(deps), turn: id });
  await session.append([line], { sync: true });
  return "noted";
}

async function answer(turn: RunningTurn): Promise<TurnStatus> {
  const { message, session, deps, signal, port, joined } = turn;
  const begun = port.isRedelivered ? begunTurn(session.messages, message.id) : notBegun;
  joined.push(...begun.joined);
  const { routes, keptMessages } = deps;
  if (keptMessages !== undefined && !port.isRedelivered && routes?.[message.origin] !== undefined)
    await session.keepRecent(keptMessages);
  if (port.isRedelivered) {
    port.rejoin(begun.joined);
    const starts = await countStart(turn, begun.lines.length);
    if (begun.answer === undefined && starts >= MOST_STARTS) return giveUp(turn, begun.open);
  }
  const recorder = createRecorder(message, session, deps, { before: begun.lines, signal });
  if (begun.answer !== undefined) {
    await publishAnswer(turn, recorder, begun.answer);
    return "answered";
  }
  await closeLeftOpen(message, begun.open, session, deps);
  await addUserLine(turn);
  const run = runOf(turn);
  await finishCalls(message, begun.open, { session, recorder, run, deps });
  if (signal.aborted) return "stopped";
  const model = await deps.models.of(session);
  const result = await runLoop(
    {
      turn: message.id,
      messages: await prompt(turn, model),
      request: request(model),
      maxRounds: deps.maxToolIterations,
      roundsBehind: begun.rounds,
      promptTokens: model.promptTokens,
    },
    {
      model: model.model,
      scale: model.scale,
      tools: deps.toolbox,
      run,
      joining: () => takeIn(turn, recorder),
      emit: recorder.record,
    },
  );
  await recorder.endStream();
  const status = await finish(turn, recorder, result, model.name);
  deps.consolidation?.turnEnded({ key: session.key, tokens: session.tokens, budget: turn.budget });
  return status;
}

function runOf({ message, signal, deps }: RunningTurn): ToolRun {
  const { id, sessionKey, senderId, origin, channel, chatId, thread } = message;
  return {
    sessionKey,
    turn: id,
    sender: senderId,
    origin,
    channel,
    chatId,
    ...(thread === undefined ? {} : { thread }),
    ...(routeOf(message, deps) === undefined ? {} : { source: sourceOf(message) }),
    signal,
  };
}

/** That it cannot be counted is no reason not to answer. */
async function countStart({ message, deps, port }: RunningTurn, progress: number): Promise<number> {
  try {
    return await port.resume(progress);
  } catch (error) {
    deps.log.warn("Could not record that a turn began again", { turn: message.id, error });
    return 1;
  }
}

async function prompt(
  turn: RunningTurn,
  { promptTokens, scale }: ModelChoice,
): Promise<readonly ChatMessage[]> {
  const { session, deps } = turn;
  const system = withSummary(await deps.systemPrompt(), session.summary);
  const budget = messageBudget({ promptTokens, toolTokens: toolTokens(deps.toolbox.definitions), scale });
  turn.budget = Math.max(128, budget - messageTokens(system));
  return [system, ...(await deps.images.loadWindow(session.window(turn.budget)))];
}

function request({ name, maxTokens, temperature, reasoningEffort }: ModelChoice) {
  return {
    model: name,
    maxTokens,
    temperature,
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
  };
}

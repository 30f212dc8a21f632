/** A turn: one message from start to finish. Load the session, build the prompt, run the loop, save, publish. */

import type { ModelChoice } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { RunResult, TurnEnded } from "../core/events.ts";
import type { InboundMessage } from "../core/messages.ts";
import type { AssistantMessage, ChatMessage, Usage } from "../core/model.ts";
import type { Session } from "../core/session.ts";
import { modelFailed, problemOf, turnFailed, WAITING_FOR_SESSION } from "../lib/phrases.ts";
import { messageTokens, toolTokens } from "../lib/request-tokens.ts";
import { INTERRUPTED } from "../lib/tool-failure.ts";
import { toStored } from "../lib/transcript.ts";
import { interruptedEntry } from "./audit-entry.ts";
import { messageBudget } from "./context.ts";
import { type AgentDeps, timestamp } from "./deps.ts";
import { runLoop } from "./loop.ts";
import { publish, publishFinal } from "./publish.ts";
import { createRecorder } from "./recorder.ts";

/** When somebody is told that another process has the session. */
const PATIENCE_MS = 1_000;

export type TurnStatus = Exclude<TurnEnded["status"], "command">;

/**
 * Ends with one durable final message, unless `signal` was aborted: then whoever aborted it answers. The
 * session has every call closed by its result in any case. Rejects only when the bus does.
 */
export async function runTurn(
  message: InboundMessage,
  deps: AgentDeps,
  signal: AbortSignal,
): Promise<TurnStatus> {
  try {
    const session = await openSession(message, deps, signal);
    try {
      if (message.kind === "note") return await addNote(message, session, deps);
      return await answer(message, session, deps, signal);
    } finally {
      await session.close();
    }
  } catch (error) {
    if (signal.aborted) return "stopped";
    // What the user can mend is told to the user; anything else is for the log too.
    if (!(error instanceof UserError)) deps.log.error("Turn failed", { turn: message.id, error });
    await publishFinal(message, deps, { outcome: "error", content: turnFailed(problemOf(error)) });
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
  const line = toStored({ role: "assistant", content }, { timestamp: timestamp(deps), turn: id });
  await session.append([line], { sync: true });
  return "noted";
}

async function answer(
  message: InboundMessage,
  session: Session,
  deps: AgentDeps,
  signal: AbortSignal,
): Promise<TurnStatus> {
  await closeInterrupted(message, session, deps);
  await addUserLine(message, session, deps);
  const recorder = createRecorder(message, session, deps);
  const model = await deps.models.of(session);
  const result = await runLoop(
    {
      turn: message.id,
      messages: await prompt(session, deps, model),
      request: request(model),
      maxRounds: deps.maxToolIterations,
      promptTokens: model.promptTokens,
    },
    {
      model: model.model,
      scale: model.scale,
      tools: deps.toolbox,
      run: {
        sessionKey: message.sessionKey,
        turn: message.id,
        sender: message.senderId,
        origin: message.origin,
        signal,
      },
      emit: recorder.record,
    },
  );
  await recorder.endStream();
  return finish(message, session, deps, { result, model: model.name, usage: recorder.usage() });
}

/**
 * What a turn that was cut off left open gets a result that says so, and a line in the audit. Its calls are
 * not run again: nobody knows how far they came.
 */
async function closeInterrupted(message: InboundMessage, session: Session, deps: AgentDeps): Promise<void> {
  const open = session.openCalls();
  if (open.length === 0) return;
  const closing = open.map((call) =>
    toStored(
      { role: "tool", toolCallId: call.id, name: call.function.name, content: INTERRUPTED },
      { timestamp: timestamp(deps) },
    ),
  );
  const maker = new Map(
    session.messages.flatMap((line) => (line.tool_calls ?? []).map(({ id }) => [id, line.turn])),
  );
  await session.append(closing, { sync: false });
  for (const call of open) deps.audit(interruptedEntry(call, maker.get(call.id), message, deps.mask));
}

/** A message that came before is not added again. */
async function addUserLine(message: InboundMessage, session: Session, deps: AgentDeps): Promise<void> {
  if (session.has(message.id)) return;
  const line = toStored(
    { role: "user", content: message.content },
    {
      timestamp: message.timestamp,
      turn: message.id,
      inbound: message.id,
      runtime: deps.runtimeContext(message, deps.clock.now()),
      ...(message.media.length > 0 ? { media: message.media } : {}),
    },
  );
  await session.append([line], { sync: false });
}

async function prompt(
  session: Session,
  deps: AgentDeps,
  { promptTokens, scale }: ModelChoice,
): Promise<readonly ChatMessage[]> {
  const system = await deps.systemPrompt();
  const budget = messageBudget({ promptTokens, toolTokens: toolTokens(deps.toolbox.definitions), scale });
  const window = session.window(Math.max(128, budget - messageTokens(system)));
  return [system, ...(await deps.images.loadWindow(window))];
}

function request({ name, maxTokens, temperature, reasoningEffort }: ModelChoice) {
  return {
    model: name,
    maxTokens,
    temperature,
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
  };
}

async function finish(
  message: InboundMessage,
  session: Session,
  deps: AgentDeps,
  { result, model, usage }: { result: RunResult; model: string; usage: Usage | undefined },
): Promise<TurnStatus> {
  const counted = usage === undefined ? {} : { usage };
  switch (result.status) {
    case "answered":
      await saveAnswer(message, session, deps, result.message);
      await publishFinal(message, deps, {
        outcome: "answer",
        content: result.message.content,
        model: result.message.model ?? model,
        ...counted,
      });
      return "answered";
    case "failed":
      deps.log.info("Model call failed", { turn: message.id, ...result.error });
      // Shown and not stored: an error is never an answer, and must not be quoted as one.
      await publishFinal(message, deps, {
        outcome: "error",
        content: modelFailed(result.error),
        model,
        ...counted,
      });
      return "failed";
    case "aborted":
      return "stopped";
  }
}

async function saveAnswer(
  message: InboundMessage,
  session: Session,
  deps: AgentDeps,
  answer: AssistantMessage,
) {
  const line = toStored(answer, { timestamp: timestamp(deps), turn: message.id });
  await session.append([line], { sync: true });
}

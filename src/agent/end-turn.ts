/** The ends of a turn: its last line in the session, and the one final message that answers what was asked. */

import type { RunResult } from "../core/events.ts";
import type { AssistantMessage } from "../core/model.ts";
import type { StoredToolCall } from "../core/session.ts";
import { GAVE_UP, modelFailed, turnFailed } from "../lib/phrases.ts";
import { toStored } from "../lib/transcript.ts";
import { timestamp } from "./deps.ts";
import { publishResult } from "./publish.ts";
import type { Recorder } from "./recorder.ts";
import { closeCalls } from "./resume.ts";
import type { RunningTurn, TurnStatus } from "./running-turn.ts";

export async function finish(
  turn: RunningTurn,
  recorder: Recorder,
  result: RunResult,
  model: string,
): Promise<TurnStatus> {
  const { message, deps, signal, joined } = turn;
  switch (result.status) {
    case "answered":
      await saveAnswer(turn, result.message);
      await publishAnswer(turn, recorder, { model, ...result.message });
      return "answered";
    case "failed":
      deps.log.info("Model call failed", { turn: message.id, ...result.error });
      // Shown and not stored: an error is never an answer, and must not be quoted as one.
      await publishResult(message, deps, signal, {
        outcome: "error",
        content: modelFailed(result.error),
        answers: joined,
        model,
        ...counted(recorder),
      });
      return "failed";
    case "aborted":
      return "stopped";
  }
}

function counted(recorder: Recorder) {
  const usage = recorder.usage();
  return usage === undefined ? {} : { usage };
}

/** Whoever has been sent it by a tool is not sent it again. */
export async function publishAnswer(
  turn: RunningTurn,
  recorder: Recorder,
  { content, model }: Pick<AssistantMessage, "content" | "model">,
): Promise<void> {
  const { message, deps, signal, joined } = turn;
  turn.isAnswered = true;
  await publishResult(message, deps, signal, {
    outcome: "answer",
    content,
    answers: joined,
    isSilent: recorder.wasSent(),
    ...(model === undefined ? {} : { model }),
    ...counted(recorder),
  });
}

async function saveAnswer({ message, session, deps }: RunningTurn, answer: AssistantMessage): Promise<void> {
  const line = toStored(answer, { timestamp: timestamp(deps), turn: message.id });
  await session.append([line], { sync: true });
}

/** Whatever it was that ended the process each time, the messages behind it are not to wait for it. */
export async function giveUp(turn: RunningTurn, open: readonly StoredToolCall[]): Promise<TurnStatus> {
  const { message, session, deps, signal, joined } = turn;
  deps.log.error("A turn ended the program again and again, and is not begun any more", { turn: message.id });
  await closeCalls(message, open, session, deps);
  const content = turnFailed(GAVE_UP);
  await publishResult(message, deps, signal, { outcome: "error", content, answers: joined });
  return "failed";
}

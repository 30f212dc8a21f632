/** The two questions of the heartbeat to a model: whether anything is due, and whether the owner hears of what came of it. */

import * as v from "valibot";
import type { ModelChoice } from "../core/app.ts";
import type { Caller } from "../core/model.ts";
import { askStructured, type Structured } from "../lib/ask-structured.ts";
import { estimateTokens } from "../lib/estimate.ts";
import { createTimeInWords } from "../lib/local-time.ts";
import {
  HEARTBEAT_DECIDER,
  HEARTBEAT_TOOL,
  heartbeatQuestion,
  leftOutCharacters,
  NOTIFICATION_JUDGE,
  NOTIFICATION_TOOL,
  notificationQuestion,
} from "../lib/phrases.ts";
import { headTail } from "../lib/text.ts";

export type HeartbeatModel = Pick<
  ModelChoice,
  "model" | "name" | "maxTokens" | "temperature" | "reasoningEffort" | "promptTokens"
>;

export interface Asking {
  readonly model: HeartbeatModel;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** Of an answer, thoughts included. */
const MOST_TOKENS = 4_096;
/** In characters. */
const LONGEST_TEXT = 20_000;
const LONGEST_INSTRUCTIONS = 32_000;
/** A window that leaves less than this for a text takes no question at all. */
const LEAST_TOKENS = 200;

const decision = v.object({
  action: v.pipe(
    v.picklist(["skip", "run"]),
    v.description("run when a task has to be worked on now, else skip"),
  ),
  tasks: v.optional(v.pipe(v.string(), v.description("with run: what has to be done now"))),
});

const judgement = v.object({
  should_notify: v.pipe(v.boolean(), v.description("true when the owner should be told now")),
  reason: v.optional(v.pipe(v.string(), v.description("why, in one sentence"))),
});

/** The beginning and the end of `text`, in at most so many tokens by our estimate. */
export function fitted(text: string, tokens: number, longest = LONGEST_TEXT): string {
  const most = Math.max(LEAST_TOKENS, Math.floor(tokens));
  let shown = headTail(text, longest, leftOutCharacters);
  for (let count = estimateTokens(shown); count > most; count = estimateTokens(shown)) {
    shown = headTail(text, Math.floor((shown.length * 0.9 * most) / count), leftOutCharacters);
  }
  return shown;
}

function requestOf({ name, maxTokens, reasoningEffort }: HeartbeatModel, temperature: number) {
  return {
    model: name,
    maxTokens: Math.min(maxTokens, MOST_TOKENS),
    temperature,
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
  };
}

/** `now` in milliseconds since the epoch. Never rejects. */
export function askWhetherDue(
  { tasks, now, timeZone }: { readonly tasks: string; readonly now: number; readonly timeZone: string },
  { model, ...options }: Asking,
): Promise<Structured<v.InferOutput<typeof decision>>> {
  const question = heartbeatQuestion(createTimeInWords(timeZone)(now), fitted(tasks, model.promptTokens / 2));
  return askStructured(
    model.model,
    {
      name: "heartbeat",
      description: HEARTBEAT_TOOL,
      schema: decision,
      messages: [
        { role: "system", content: HEARTBEAT_DECIDER },
        { role: "user", content: question },
      ],
      request: requestOf(model, model.temperature),
    },
    options,
  );
}

/** `instructions` stand in the place of our own. Never rejects. */
export function askWhetherToTell(
  {
    task,
    reply,
    instructions = NOTIFICATION_JUDGE,
  }: { readonly task: string; readonly reply: string; readonly instructions: string | undefined },
  { model, ...options }: Asking,
): Promise<Structured<v.InferOutput<typeof judgement>>> {
  const { promptTokens } = model;
  const question = notificationQuestion(fitted(task, promptTokens / 4), fitted(reply, promptTokens / 4));
  return askStructured(
    model.model,
    {
      name: "evaluate_notification",
      description: NOTIFICATION_TOOL,
      schema: judgement,
      messages: [
        { role: "system", content: fitted(instructions, promptTokens / 4, LONGEST_INSTRUCTIONS) },
        { role: "user", content: question },
      ],
      request: requestOf(model, 0),
    },
    options,
  );
}

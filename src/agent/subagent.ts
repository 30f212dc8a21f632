/** The program of a subagent's thread: the loop, whose model and tools are with the main thread. */

import type { Emit } from "../core/events.ts";
import type { Model, TokenScale } from "../core/model.ts";
import type { SubagentOutput } from "../core/subagent.ts";
import type { ToolRun } from "../core/tool-run.ts";
import type { Toolbox } from "../core/toolbox.ts";
import type { WorkerProgram } from "../core/workers.ts";
import { never } from "../lib/abort.ts";
import { modelFailed, SUBAGENT_STOPPED, stepsBefore } from "../lib/phrases.ts";
import { createTokenScale } from "../lib/token-scale.ts";
import { toolHint } from "../lib/tool-hint.ts";
import { runLoop } from "./loop.ts";

/** Of what it did before it failed, the last so many calls are told, each with so much of its first argument. */
const TOLD_STEPS = 3;
const STEP_CHARS = 60;

/** Ends with text in any case. An abort is the end of the thread, so that nothing here waits for one. */
export const subagentProgram: WorkerProgram<"subagent"> = async (input, ask) => {
  const { turn, systemPrompt, task, definitions, maxRounds, promptTokens } = input;
  const readOnly = new Set(input.readOnly);
  const scale = createFittingScale(input.fitting);

  const model: Model = {
    provider: "main thread",
    async chat({ messages, toolChoice }) {
      const { reply, fitting } = await ask("chat", { messages, toolChoice });
      scale.learnt(fitting);
      return reply;
    },
  };
  const tools: Toolbox = {
    definitions,
    isReadOnly: (name) => readOnly.has(name),
    problemOf: () => undefined,
    run: (call) => ask("tool", call),
  };
  const refused = (estimated: number) => {
    scale.refused(estimated);
    // What the model takes is known to the main thread after the next question too.
    ask("refused", estimated).then(({ fitting }) => scale.learnt(fitting), ignoreUntilAsked);
  };
  const steps: string[] = [];
  const emit: Emit = (event) => {
    if (event.type === "tool.ended") steps.push(toolHint(event.call, STEP_CHARS));
  };
  const result = await runLoop(
    {
      turn,
      messages: [
        { role: "system", content: systemPrompt },
        { role: "user", content: task },
      ],
      request: input.request,
      maxRounds,
      promptTokens,
    },
    { model, scale: { ...scale, refused }, tools, run: runIn(turn), emit },
  );
  return outputOf(result, steps);
};

// The next question rejects with the same error; here it would only be unhandled.
function ignoreUntilAsked(): void {}

/** On whose behalf it runs the main thread knows, and this side cannot change. */
function runIn(turn: ToolRun["turn"]): ToolRun {
  return { sessionKey: turn, turn, sender: "", origin: "subagent", channel: "", chatId: "", signal: never };
}

function outputOf(result: Awaited<ReturnType<typeof runLoop>>, steps: readonly string[]): SubagentOutput {
  switch (result.status) {
    case "answered":
      return { status: "done", text: result.message.content };
    case "failed":
      return {
        status: "failed",
        text: [modelFailed(result.error), ...stepsBefore(steps.slice(-TOLD_STEPS))].join("\n"),
      };
    case "aborted":
      return { status: "failed", text: SUBAGENT_STOPPED };
  }
}

/** Says what the main thread last said, and less after a refusal, until it has heard of that too. */
function createFittingScale(first: number): TokenScale & { learnt(fitting: number): void } {
  let fitting = first;
  const refusals = createTokenScale();
  return {
    fit: () => Math.min(fitting, refusals.fit(fitting)),
    // The main thread counts.
    learn() {},
    refused: refusals.refused,
    learnt(told) {
      fitting = told;
    },
  };
}

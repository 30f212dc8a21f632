/** Runs one task in a thread: the model and the tools that it is lent, and what came of it. */

import type { ModelChoice } from "../core/app.ts";
import type { HourlyLimits } from "../core/background.ts";
import { UserError } from "../core/errors.ts";
import type { Clock, Log } from "../core/platform.ts";
import type { SubagentOutput } from "../core/subagent.ts";
import { toolError } from "../core/tool.ts";
import type { ToolRun } from "../core/tool-run.ts";
import type { Toolbox } from "../core/toolbox.ts";
import type { ServeThread, WorkerOutcome, Workers } from "../core/workers.ts";
import { problemOf, subagentBrokeOff } from "../lib/phrases.ts";
import { toolFailure } from "../lib/tool-failure.ts";
import { ownSession, ownTurn } from "./own-names.ts";
import { subagentPrompt, taskText } from "./prompt.ts";
import type { TaskRecord } from "./record.ts";

type SubagentModel = Pick<
  ModelChoice,
  "model" | "name" | "promptTokens" | "scale" | "maxTokens" | "temperature" | "reasoningEffort"
>;

export interface RunTaskDeps {
  readonly workers: Workers;
  /** Without the tools that are for the main agent alone. */
  readonly toolbox: () => Promise<Toolbox>;
  readonly model: (sessionKey: string) => Promise<SubagentModel>;
  readonly skillsSummary: () => Promise<string>;
  readonly maxRounds: number;
  readonly limits: Pick<HourlyLimits, "toolCall">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly workspace: string;
  /** Ends what the tools of a run have left running. */
  readonly endLeft: (sessionKey: string) => Promise<unknown>;
}

interface RunOptions {
  readonly temperature: number | undefined;
  readonly signal: AbortSignal;
  readonly onToolCall: () => void;
  /** The model has answered. */
  readonly onAnswered: () => void;
}

/** Resolves to `ending` when the program ends before the task does. Rejects only with the signal's reason. */
export async function runTask(
  record: TaskRecord,
  deps: RunTaskDeps,
  options: RunOptions,
): Promise<SubagentOutput | "ending"> {
  const { log } = deps;
  try {
    const outcome = await inThread(record, deps, options);
    if (outcome.ok) return outcome.output;
    if (outcome.isEnding === true) return "ending";
    log.error("The thread of a task ended before the task", { task: record.id, reason: outcome.reason });
    return { status: "failed", text: subagentBrokeOff(outcome.reason) };
  } catch (error) {
    if (options.signal.aborted) throw error;
    // What the user can mend is for the user alone.
    if (!(error instanceof UserError)) log.error("A task could not be run", { task: record.id, error });
    return { status: "failed", text: subagentBrokeOff(problemOf(error)) };
  } finally {
    await deps
      .endLeft(ownSession(record.id))
      .catch((error: unknown) => log.warn("Commands of a task may go on", { task: record.id, error }));
  }
}

async function inThread(
  record: TaskRecord,
  deps: RunTaskDeps,
  { temperature, signal, onToolCall, onAnswered }: RunOptions,
): Promise<WorkerOutcome<SubagentOutput>> {
  const { id, sessionKey, task, asker } = record;
  const { workers, maxRounds, limits, clock, workspace } = deps;
  const [toolbox, choice, skills] = await Promise.all([
    deps.toolbox(),
    deps.model(sessionKey),
    skillsOf(deps),
  ]);
  const { model, scale, promptTokens, reasoningEffort } = choice;
  const { definitions } = toolbox;
  const turn = ownTurn(id);
  const { sender, channel, chatId, thread } = asker;
  const place = { sender, channel, chatId, ...(thread === undefined ? {} : { thread }) };
  const request = {
    model: choice.name,
    maxTokens: choice.maxTokens,
    temperature: temperature ?? choice.temperature,
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
  };
  const fitting = () => scale.fit(promptTokens);

  const serve: ServeThread<"subagent"> = {
    async chat(asked, limit) {
      const reply = await model.chat(
        { ...request, ...asked, tools: definitions },
        { signal: limit, onDelta: ignore, caller: { sessionKey, origin: "subagent", turn } },
      );
      if (reply.ok) onAnswered();
      return { reply, fitting: fitting() };
    },
    async tool(call, limit) {
      onToolCall();
      // Each task has a session of its own; whoever begins many must not have as many times the calls.
      const against = limits.toolCall(sessionKey);
      if (against !== undefined) return toolError(toolFailure(against), { refused: true });
      const run: ToolRun = {
        ...place,
        sessionKey: ownSession(id),
        turn,
        origin: "subagent",
        signal: limit,
      };
      return toolbox.run(call, run);
    },
    async refused(estimated) {
      scale.refused(estimated);
      return { fitting: fitting() };
    },
  };
  return workers.run(
    "subagent",
    {
      turn,
      systemPrompt: subagentPrompt({ workspace, skills }),
      task: taskText(task, clock.now()),
      definitions,
      readOnly: definitions.map(({ name }) => name).filter(toolbox.isReadOnly),
      request,
      maxRounds,
      promptTokens,
      fitting: fitting(),
    },
    { signal, serve },
  );
}

// Nobody sees it grow.
function ignore(): void {}

/** A task can be done without them. */
async function skillsOf({ skillsSummary, log }: RunTaskDeps): Promise<string> {
  try {
    return await skillsSummary();
  } catch (error) {
    log.warn("A task is run without the list of skills", { error });
    return "";
  }
}

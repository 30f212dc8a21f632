/** The tasks of a process: subagents in threads, with fewer tools, behind one queue. */

import type { ModelChoice } from "../core/app.ts";
import type { InboundMessage } from "../core/messages.ts";
import type { Log, Platform } from "../core/platform.ts";
import type { Skills } from "../core/skills.ts";
import type { Tasks } from "../core/tasks.ts";
import { lazy } from "../lib/lazy.ts";
import { sameTaskAgain } from "../lib/phrases.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { createAgent } from "./agent.ts";
import type { Background } from "./background.ts";
import type { Settings } from "./settings.ts";
import type { createTools } from "./tools.ts";

export interface TasksParts {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly background: Background;
  readonly tools: ReturnType<typeof createTools>;
  readonly agent: Pick<ReturnType<typeof createAgent>, "modelOf">;
  skills(): Promise<Skills>;
}

export interface TasksUse {
  /** Of sessions that have none of their own. */
  readonly model: ModelChoice;
  readonly publish: (message: InboundMessage, signal: AbortSignal) => Promise<boolean>;
  /** Whether what runs is on record, so that the next process knows of it. */
  readonly isRecorded: boolean;
}

async function openTasks(
  { platform, settings, log, secrets, background, tools, agent, skills }: TasksParts,
  { model, publish, isRecorded }: TasksUse,
): Promise<Tasks> {
  const { createTasks } = await import("../subagents/tasks.ts");
  const { files, clock } = platform;
  const { workspace } = await settings.paths();
  const { maxConcurrentSubagents, maxSubagentIterations } = await settings.agent();
  return createTasks({
    workers: tools.workers,
    publish,
    toolbox: tools.subagentToolbox,
    // What was chosen with /model is for all that is done for that session.
    model: async (sessionKey) => agent.modelOf(sessionKey) ?? model,
    skillsSummary: async () => (await (await skills()).prompt()).summary,
    limit: maxConcurrentSubagents,
    maxRounds: maxSubagentIterations,
    limits: await background.limits(),
    pause: background.pause,
    clock,
    files,
    log,
    workspace,
    mask: secrets.mask,
    endLeft(sessionKey) {
      tools.forget(sessionKey);
      return tools.leftRunning.end(sessionKey);
    },
    record: isRecorded,
    onLoop: ({ label, sessionKey }) =>
      background.tellHourly(sameTaskAgain(label, sessionKey), `same-task:${sessionKey}`),
  });
}

/** Tasks that are loaded with the first of them. */
export function createLateTasks(parts: TasksParts, use: TasksUse): Tasks {
  let opened: Tasks | undefined;
  let opening: Promise<Tasks | undefined> | undefined;
  const open = lazy(() => {
    const tasks = openTasks(parts, use);
    // Whoever needs them is told why there are none. Whoever ends them has nothing to do then.
    opening = tasks.then(
      (ready) => {
        opened = ready;
        return ready;
      },
      () => undefined,
    );
    return tasks;
  });
  return {
    spawnerFor: (asker) => ({ spawn: async (request) => (await open()).spawnerFor(asker).spawn(request) }),
    list: () => opened?.list() ?? [],
    stop: async (sessionKey) => (await (await opening)?.stop(sessionKey)) ?? 0,
    count: (sessionKey) => opened?.count(sessionKey) ?? 0,
    recover: async () => (await open()).recover(),
    settled: async (signal) => (await opening)?.settled(signal),
    close: async () => (await opening)?.close(),
  };
}

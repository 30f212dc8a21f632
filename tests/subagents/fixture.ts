/** Tasks with everything a test does not care about filled in. */

import { subagentProgram } from "../../src/agent/subagent.ts";
import type { BackgroundPause } from "../../src/core/background.ts";
import type { InboundId, InboundMessage } from "../../src/core/messages.ts";
import type { ToolRun } from "../../src/core/tool-run.ts";
import type { Toolbox } from "../../src/core/toolbox.ts";
import type { ServeThread, Workers } from "../../src/core/workers.ts";
import { abortable, never } from "../../src/lib/abort.ts";
import { createTokenScale } from "../../src/lib/token-scale.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createTasks, type TasksOptions } from "../../src/subagents/tasks.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { createFakeModel, type FakeModel, type Scripted } from "../fakes/model.ts";
import { tempFolder } from "../fakes/temp.ts";

/** Runs subagents without threads. */
const threadless: Workers = {
  async run(_role, input, { signal, serve }) {
    const asked = serve as ServeThread<"subagent">;
    type Ask = Parameters<typeof subagentProgram>[1];
    const ask = ((kind: "chat", request: never) => asked[kind](request, signal)) as Ask;
    // Only subagents are started here.
    const run = subagentProgram as (given: typeof input, ask: Ask) => Promise<never>;
    return { ok: true, output: await abortable(run(input, ask), signal) };
  },
  endAll: () => {},
};

export const noTools: Toolbox = {
  definitions: [],
  isReadOnly: () => false,
  problemOf: () => undefined,
  run: async () => ({ ok: false, text: "there are none" }),
};

export function asker(changes: Partial<Omit<ToolRun, "turn">> & { readonly turn?: string } = {}): ToolRun {
  return {
    sessionKey: "telegram:1",
    sender: "anna",
    origin: "chat",
    channel: "telegram",
    chatId: "1",
    signal: never,
    ...changes,
    turn: (changes.turn ?? "telegram:update:1") as InboundId,
  };
}

export interface FixtureOptions extends Partial<Omit<TasksOptions, "clock" | "model" | "log">> {
  readonly script?: readonly Scripted[];
  readonly model?: FakeModel;
}

export function createFixture({ script = [], model, ...changes }: FixtureOptions = {}) {
  const clock = createFakeClock();
  const log = createFakeLog();
  const published: InboundMessage[] = [];
  const fake = model ?? createFakeModel(...script);
  const workspace = changes.workspace ?? tempFolder();
  const pause: BackgroundPause & { left: number } = { left: 0, leftMs: () => pause.left, observe() {} };
  const options: TasksOptions = {
    workers: threadless,
    async publish(message) {
      if (published.some(({ id }) => id === message.id)) return false;
      published.push(message);
      return true;
    },
    toolbox: async () => noTools,
    model: async () => ({
      model: fake,
      name: "fake-model",
      promptTokens: 10_000,
      scale: createTokenScale(),
      maxTokens: 1_000,
      temperature: 0.1,
      reasoningEffort: undefined,
    }),
    skillsSummary: async () => "",
    limit: 4,
    maxRounds: 15,
    limits: { toolCall: () => undefined, task: () => undefined },
    pause,
    clock,
    files: createFileSystem(),
    log,
    workspace,
    mask: (text) => text,
    ...changes,
  };
  /** Resolves when nothing runs any more that can end without the clock. */
  const settled = () => tasks.settled(never);
  const tasks = createTasks(options);
  let calls = 0;
  return {
    clock,
    log,
    published,
    model: fake,
    workspace,
    pause,
    tasks,
    settled,
    spawn: (
      task: string,
      { by = asker(), wait = false, key = `call_${calls++}`, ...rest }: SpawnOptions = {},
    ) => tasks.spawnerFor(by).spawn({ task, wait, key, ...rest }),
    /** The same workspace in the next process. */
    again: (next: FixtureOptions = {}) => createFixture({ ...changes, ...next, workspace }),
  };
}

interface SpawnOptions {
  readonly by?: ToolRun;
  readonly wait?: boolean;
  readonly key?: string;
  readonly label?: string;
  readonly temperature?: number;
}

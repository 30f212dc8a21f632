/** An agent on real files with a scripted model: for tests of turns and dispatch. */

import { join } from "node:path";
import type { AgentDeps } from "../../src/agent/deps.ts";
import { createImageLoader } from "../../src/agent/images.ts";
import { createRuntimeContext } from "../../src/agent/prompt.ts";
import { createSessionModels } from "../../src/agent/session-models.ts";
import { createMemoryBus } from "../../src/bus/memory.ts";
import type { ModelChoice } from "../../src/core/app.ts";
import type { AuditEntry } from "../../src/core/audit.ts";
import { UserError } from "../../src/core/errors.ts";
import type { FinalMessage, OutboundMessage } from "../../src/core/messages.ts";
import type { Model } from "../../src/core/model.ts";
import type { StoredMessage } from "../../src/core/session.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { never } from "../../src/lib/abort.ts";
import { createMask, secretSpellings } from "../../src/lib/mask.ts";
import { createMaskStream } from "../../src/lib/mask-stream.ts";
import { createTokenScale } from "../../src/lib/token-scale.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createIds } from "../../src/platform/ids.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { createSessionStore } from "../../src/sessions/store.ts";
import { createFakeClock, type FakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { createFakeModel, type Scripted } from "../fakes/model.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestToolbox } from "../fakes/toolbox.ts";

interface FixtureOptions {
  readonly script?: readonly Scripted[];
  readonly tools?: readonly AnyTool[];
  readonly workspace?: string;
  readonly contextWindowTokens?: number;
  readonly showReasoning?: boolean;
  /** Puts something between the agent and the scripted model. */
  readonly wrap?: (model: Model, clock: FakeClock) => Model;
  /** Models that can be chosen, by name. */
  readonly others?: Readonly<Record<string, Model>>;
  /** What must not leave. */
  readonly secrets?: readonly string[];
}

export function createFixture({
  script = [],
  tools = [],
  workspace = tempFolder(),
  contextWindowTokens = 100_000,
  showReasoning = false,
  wrap = (model) => model,
  others = {},
  secrets = [],
}: FixtureOptions = {}) {
  const clock = createFakeClock(Date.parse("2026-11-30T09:00:00Z"));
  const log = createFakeLog();
  const bus = createMemoryBus();
  const model = createFakeModel(...script);
  const sessions = createSessionStore({
    files: createFileSystem(),
    locks: createLocks({ os: process.platform, folder: workspace }),
    clock,
    log,
    workspace,
    legacy: { homeSessions: join(workspace, "none") },
    tokens: contextWindowTokens,
  });
  const choice: ModelChoice = {
    model: wrap(model, clock),
    name: "test-model",
    why: "the test says so",
    offline: false,
    fallbacks: [],
    contextWindowTokens,
    promptTokens: contextWindowTokens - 1_000,
    scale: createTokenScale(),
    maxTokens: 1_000,
    temperature: 0.1,
    reasoningEffort: undefined,
  };
  const find = async (name: string): Promise<ModelChoice> => {
    const other = others[name];
    if (other === undefined) throw new UserError(`There is no model "${name}"`);
    return { ...choice, model: other, name, why: "it was chosen" };
  };
  const mask = createMask(secrets);
  const system = { role: "system", content: "You are a test." } as const;
  const audited: AuditEntry[] = [];
  const deps: AgentDeps = {
    version: "1.2.3",
    bus,
    sessions,
    toolbox: createTestToolbox({
      tools,
      workspace,
      audit: (entry) => void audited.push(entry),
      log,
    }),
    audit: (entry) => void audited.push(entry),
    models: createSessionModels({ standard: choice, presets: Object.keys(others), find, log }),
    systemPrompt: async () => system,
    images: createImageLoader({ files: createFileSystem(), log, workspace }),
    runtimeContext: createRuntimeContext("UTC"),
    mask,
    maskStream: () => createMaskStream(() => secretSpellings(secrets)),
    clock,
    ids: createIds({ now: clock.now, random: () => 0.5 }),
    log,
    maxToolIterations: 10,
    toolHintMaxLength: 40,
    showReasoning,
    services: { usage: async (sessionKey) => `usage of ${sessionKey}` },
    isWaiting: () => false,
  };

  const shown: OutboundMessage[] = [];
  const listeners = new Set<() => void>();
  const ended = new AbortController();
  const consuming = (async () => {
    for await (const { message, done } of bus.outbound(ended.signal)) {
      shown.push(message);
      await done();
      for (const listener of listeners) listener();
    }
  })();

  return {
    deps,
    clock,
    log,
    bus,
    audited,
    model,
    sessions,
    workspace,
    shown,
    finals: () => shown.filter((message): message is FinalMessage => message.kind === "final"),
    /** Resolves when what was shown satisfies `condition`. */
    async until(condition: (shown: readonly OutboundMessage[]) => boolean): Promise<void> {
      while (!condition(shown)) {
        await new Promise<void>((resolve) => {
          const listener = () => {
            listeners.delete(listener);
            resolve();
          };
          listeners.add(listener);
        });
      }
    },
    async stored(key = "cli:direct"): Promise<StoredMessage[]> {
      const lines: StoredMessage[] = [];
      for await (const line of sessions.read(key, never)) lines.push(line);
      return lines;
    },
    async end(): Promise<void> {
      ended.abort();
      await consuming;
    },
  };
}

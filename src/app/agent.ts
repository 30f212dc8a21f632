/** The agent of a process: everything that a dispatch needs beside the bus and who it works for. */

import type { ChatServices } from "../agent/deps.ts";
import type { createDispatch, Dispatch } from "../agent/dispatch.ts";
import type { SessionModels } from "../agent/session-models.ts";
import type { ModelChoice } from "../core/app.ts";
import type { AuditLog } from "../core/audit.ts";
import type { Bus } from "../core/bus.ts";
import type { Log, Platform } from "../core/platform.ts";
import type { SessionStore } from "../core/session.ts";
import type { Skills } from "../core/skills.ts";
import { lazy } from "../lib/lazy.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { createModels } from "./models.ts";
import type { Settings } from "./settings.ts";
import type { createTools } from "./tools.ts";

export interface AgentOptions {
  readonly version: string;
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly models: ReturnType<typeof createModels>;
  readonly tools: ReturnType<typeof createTools>;
  skills(): Promise<Skills>;
  sessions(): Promise<SessionStore>;
  audit(): Promise<AuditLog>;
}

type DispatchOptions = Parameters<typeof createDispatch>[0];

/** What differs between a conversation and the gateway. */
export interface AgentUse
  extends Pick<
    DispatchOptions,
    | "isWaiting"
    | "waitsForFinal"
    | "startedAt"
    | "drainMs"
    | "onTurnStarted"
    | "onTurnEnded"
    | "routes"
    | "keptMessages"
    | "consolidation"
  > {
  readonly bus: Bus;
  readonly model: ModelChoice;
  /** It was asked for by hand, so that it wins over what a session chose before. */
  readonly isModelWanted: boolean;
  readonly showReasoning: boolean;
  readonly services: Omit<ChatServices, "usage">;
}

export function createAgent(options: AgentOptions) {
  const { version, platform, settings, log, secrets, models, tools, skills, sessions, audit } = options;
  const { files, clock, ids } = platform;

  let sessionModels: SessionModels | undefined;

  const systemPrompt = lazy(async () => {
    const [{ createPromptSource }, { createDayOf }] = await Promise.all([
      import("../agent/prompt-source.ts"),
      import("../lib/local-day.ts"),
    ]);
    const dayOf = createDayOf(await settings.timeZone());
    const { runtime, os, arch, assets } = platform;
    const { workspace } = await settings.paths();
    const facts = { os, arch, runtime, workspace };
    return createPromptSource({
      files: (await tools.openFiles())(),
      assets,
      log,
      facts,
      skills: await skills(),
      today: () => dayOf(clock.now()),
    });
  });

  async function usageOf(sessionKey: string): Promise<string> {
    const [{ usageInWords }, store] = await Promise.all([import("../usage/in-words.ts"), models.usage()]);
    return usageInWords(store, sessionKey, clock.now());
  }

  return {
    systemPrompt,

    /** Which model answers in a session, as far as that is known by now: every turn that begins makes it known. */
    modelOf: (sessionKey: string): ModelChoice | undefined => sessionModels?.lastOf(sessionKey),

    async dispatch({ bus, model, isModelWanted, services, ...use }: AgentUse): Promise<Dispatch> {
      const [{ createDispatch }, { createImageLoader }, { createRuntimeContext }, { createSessionModels }] =
        await Promise.all([
          import("../agent/dispatch.ts"),
          import("../agent/images.ts"),
          import("../agent/prompt.ts"),
          import("../agent/session-models.ts"),
        ]);
      const { workspace } = await settings.paths();
      const { modelPresets } = (await settings.loaded()).config;
      const agent = await settings.agent();
      sessionModels = createSessionModels({
        standard: model,
        isWanted: isModelWanted,
        presets: Object.keys(modelPresets),
        find: async (name) => (await models.chooser())({ model: name }),
        log,
      });
      return createDispatch({
        ...use,
        version,
        bus,
        clock,
        ids,
        log,
        sessions: await sessions(),
        toolbox: await tools.toolbox(),
        audit: (await audit()).record,
        models: sessionModels,
        systemPrompt: await systemPrompt(),
        images: createImageLoader({ files, log, workspace }),
        mask: secrets.mask,
        maskStream: secrets.maskStream,
        runtimeContext: createRuntimeContext(await settings.timeZone()),
        skills: await skills(),
        maxToolIterations: agent.maxToolIterations,
        toolHintMaxLength: agent.toolHintMaxLength,
        maxTurns: agent.maxConcurrentTurns,
        midTurn: agent.midTurn,
        leftRunning: tools.leftRunning,
        services: { usage: usageOf, ...services },
      });
    },
  };
}

/** The models of a process: which there are, which one is meant, and what their calls used. */

import type { LocalServer, ModelChoice, ProviderInfo } from "../core/app.ts";
import type { Caller, ChatReply, Model } from "../core/model.ts";
import type { Log, Platform } from "../core/platform.ts";
import type { ModelCall, UsageStore } from "../core/usage.ts";
import { lazy } from "../lib/lazy.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { Settings } from "./settings.ts";

export interface ModelsOptions {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
  /** Learns the keys that models are called with. */
  readonly secrets: Secrets;
  /** Hears how each request ended, with all that was tried for it, before whoever made it. Must not reject. */
  readonly observe: (caller: Caller | undefined, reply: ChatReply) => Promise<void>;
}

export function createModels({ platform, settings, log, secrets, observe }: ModelsOptions) {
  const { files, locks, clock, env, fetch } = platform;

  let openUsage: UsageStore | undefined;
  const usage = lazy(async (): Promise<UsageStore> => {
    const { createUsageStore } = await import("../usage/store.ts");
    const { workspace } = await settings.paths();
    const { timezone: timeZone = platform.timeZone } = await settings.agent();
    openUsage = createUsageStore({ files, clock, locks, log, workspace, timeZone });
    return openUsage;
  });

  const chooser = lazy(async () => {
    const [{ createModelChooser }, { expandVariables }, { timeoutsFrom }] = await Promise.all([
      import("../providers/choose.ts"),
      import("../config/expand.ts"),
      import("../config/timeouts.ts"),
    ]);
    const { modelPresets, providers } = (await settings.loaded()).config;
    const choose = createModelChooser({
      settings: await settings.agent(),
      presets: modelPresets,
      providers,
      env,
      expand: (value, path) => expandVariables(value, env, path),
      onSecret: (secret) => secrets.add([secret]),
      fetch,
      clock,
      random: platform.random,
      log,
      ...timeoutsFrom(env),
      onCall: recordCall,
    });
    return async (wanted: Parameters<typeof choose>[0]): Promise<ModelChoice> => {
      const choice = await choose(wanted);
      return { ...choice, model: observed(choice.model) };
    };
  });

  function observed(model: Model): Model {
    return {
      ...model,
      async chat(request, options) {
        const reply = await model.chat(request, options);
        await observe(options.caller, reply);
        return reply;
      },
    };
  }

  /** Calls that are on their way into the record. */
  const recording = new Set<Promise<void>>();

  function recordCall(call: ModelCall): void {
    const now = clock.now();
    const recorded = recorder()
      .then((record) => record(call, now))
      .catch((error: unknown) => log.warn("A model call was not recorded", { error }))
      .finally(() => recording.delete(recorded));
    recording.add(recorded);
  }

  const recorder = lazy(async () => {
    const [{ toRecord }, store, { config }] = await Promise.all([
      import("../usage/record.ts"),
      usage(),
      settings.loaded(),
    ]);
    const { modelPrices: prices } = config;
    return (call: ModelCall, now: number) => store.record(toRecord(call, { prices, now }));
  });

  return {
    usage,
    chooser,

    async describe(): Promise<readonly ProviderInfo[]> {
      const [{ describeProviders }, { mainSettings }, { expandVariables }] = await Promise.all([
        import("../providers/vendors/describe.ts"),
        import("../providers/choose.ts"),
        import("../config/expand.ts"),
      ]);
      const { modelPresets: presets, providers } = (await settings.loaded()).config;
      const { model, provider } = mainSettings({
        settings: await settings.agent(),
        presets,
        expand: (value, path) => expandVariables(value, env, path),
      });
      return describeProviders({ model, provider, providers, env });
    },

    async localServers(signal: AbortSignal): Promise<readonly LocalServer[]> {
      const { discoverLocalServers } = await import("../providers/vendors/discover.ts");
      return discoverLocalServers({ fetch, clock, signal });
    },

    /** Resolves when what calls used is recorded. */
    async flush(): Promise<void> {
      await Promise.all(recording);
      await openUsage?.flush();
    },
  };
}

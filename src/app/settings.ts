/** The settings that a process runs with, and where its files lie. Everything is read when it is first asked for. */

import type { GenericSchema } from "valibot";
import type { Config } from "../config/schema.ts";
import type { GlobalFlags, Paths } from "../core/app.ts";
import type { Platform } from "../core/platform.ts";
import { lazy } from "../lib/lazy.ts";
import { followLinks } from "../lib/real-path.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { ProcessLog } from "../platform/log.ts";

export interface SettingsOptions {
  readonly platform: Platform;
  readonly flags: GlobalFlags;
  /** Learns the level that the configuration asks for. */
  readonly log: ProcessLog;
  /** Learns what in it is secret. */
  readonly secrets: Secrets;
}

type Search = Config["tools"]["web"]["search"];

/** In the place of a variable that is not set. No key contains it. */
const UNSET = "\0";

export type Settings = ReturnType<typeof createSettings>;

/** Each rejects with a `UserError` for a configuration that is not fully understood. */
export function createSettings({ platform, flags, log, secrets }: SettingsOptions) {
  const { files, env } = platform;

  const loaded = lazy(async () => {
    const [{ configPaths }, { loadConfig }, { secretsOf }] = await Promise.all([
      import("../config/paths.ts"),
      import("../config/load.ts"),
      import("../config/secrets.ts"),
    ]);
    const { home, configFile } = configPaths(platform, flags);
    const result = await loadConfig({
      files,
      path: configFile,
      env,
      mustExist: flags.config !== undefined,
    });
    secrets.add(secretsOf([result.raw, result.config], env));
    if (!flags.verbose) log.setLevel(result.config.logging.level);
    return { ...result, home };
  });

  /** As it is named: links on the way to it are not followed. */
  async function namedWorkspace(): Promise<string> {
    const { workspacePath } = await import("../config/paths.ts");
    const { config, home } = await loaded();
    return workspacePath(config, home, platform, flags);
  }

  /** Fills in variables section by section: one that is missing elsewhere stops nobody. */
  async function expand<Value>(
    value: Value,
    path: readonly string[],
    missing?: () => string,
  ): Promise<Value> {
    const { expandVariables } = await import("../config/expand.ts");
    return expandVariables(value, env, path, missing);
  }

  /** A key that is missing is no error: another engine is asked then, which the search says. */
  async function expandSearch(search: Search): Promise<Search & { readonly isKeyMeant: boolean }> {
    const expanded = await expand(search, ["tools", "web", "search"], () => UNSET);
    const whole = (text: string) => (text.includes(UNSET) ? "" : text);
    const { apiKey, baseUrl } = expanded;
    return {
      ...expanded,
      apiKey: whole(apiKey),
      baseUrl: whole(baseUrl),
      isKeyMeant: search.apiKey.trim() !== "",
    };
  }

  const agent = lazy(async () => {
    const { checkTimeZone } = await import("../config/time-zone.ts");
    const settings = await expand((await loaded()).config.agents.defaults, ["agents", "defaults"]);
    if (settings.timezone !== undefined) checkTimeZone(settings.timezone);
    return settings;
  });

  return {
    loaded,
    namedWorkspace,
    agent,

    tools: lazy(async () => {
      const { web, exec, file, restrictToWorkspace, allowedPaths, ssrfWhitelist } = (await loaded()).config
        .tools;
      const { search, ...reading } = web;
      return {
        ...(await expand({ exec, file, restrictToWorkspace, allowedPaths, ssrfWhitelist }, ["tools"])),
        web: {
          ...(await expand(reading, ["tools", "web"])),
          search: await expandSearch(search),
        },
      };
    }),

    /** The agent's. */
    async timeZone(): Promise<string> {
      return (await agent()).timezone ?? platform.timeZone;
    },

    /** The same for who may never need it: to know the machine's costs megabytes. */
    async lateTimeZone(): Promise<() => string> {
      const { timezone } = await agent();
      return () => timezone ?? platform.timeZone;
    },

    async limits() {
      return (await loaded()).config.limits;
    },

    gateway: lazy(async () => {
      const { gateway, access, channels } = (await loaded()).config;
      const { sendProgress, sendToolHints, showReasoning, sendMaxRetries } = channels;
      return {
        ...(await expand(gateway, ["gateway"])),
        access: await expand(access, ["access"]),
        channels: { sendProgress, sendToolHints, showReasoning, sendMaxRetries },
      };
    }),

    async enabledChannels(): Promise<readonly string[]> {
      const { enabledChannels } = await import("../config/channel-section.ts");
      return enabledChannels((await loaded()).config);
    },

    /** The block of a channel: what all channels share, and what `schema` makes of the rest. */
    async channel<Schema extends GenericSchema>(name: string, schema: Schema) {
      const { readChannelSection } = await import("../config/channel-section.ts");
      // The channel fills in its own settings when it is made, so that one that is only looked at needs no variable.
      return readChannelSection(schema, await loaded(), name);
    },

    /** For one value. `setting` is its place, as in `channels.telegram.token`. */
    async expander(): Promise<(value: string, setting: string) => string> {
      const { expandVariables } = await import("../config/expand.ts");
      return (value, setting) => {
        const keys = setting.replace(/\[(\d+)\]/g, ".$1").split(".");
        return expandVariables(
          value,
          env,
          keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key)),
        );
      };
    },

    paths: lazy(async (): Promise<Paths> => {
      const { home, path } = await loaded();
      return { home, configFile: path, workspace: await followLinks(files, await namedWorkspace()) };
    }),
  };
}

/** The composition root: knows every part, builds each when it is first asked for, and hands it on as a port. */

import type { App, ConverseOptions, GlobalFlags, ModelChoice, Paths } from "./core/app.ts";
import type { Bus } from "./core/bus.ts";
import type { Channel } from "./core/channel.ts";
import { UserError } from "./core/errors.ts";
import type { FinalMessage } from "./core/messages.ts";
import type { Platform } from "./core/platform.ts";
import type { SessionStore } from "./core/session.ts";
import type { ToolPorts } from "./core/tool.ts";
import type { Toolbox, ToolRun } from "./core/toolbox.ts";
import { lazy } from "./lib/lazy.ts";
import { join } from "./lib/path.ts";
import { followLinks } from "./lib/real-path.ts";
import { createLog, type ProcessLog } from "./platform/log.ts";
import { vendors } from "./providers/vendors.ts";

export interface ProcessApp extends App {
  /** Resolves when the log is written. */
  flush(): Promise<void>;
}

export interface AppOptions {
  readonly platform: Platform;
  readonly flags: GlobalFlags;
  readonly version: string;
}

export function createApp({ platform, flags, version }: AppOptions): ProcessApp {
  const { files, locks, clock, ids, env, homeFolder, terminal, assets, processes } = platform;
  const log: ProcessLog = createLog({ level: flags.verbose ? "debug" : "warn", write: terminal.err });

  const config = lazy(async () => {
    const [{ configPaths }, { loadConfig }, { secretsOf }] = await Promise.all([
      import("./config/paths.ts"),
      import("./config/load.ts"),
      import("./config/secrets.ts"),
    ]);
    const { home, configFile } = configPaths(platform, flags);
    const loaded = await loadConfig({
      files,
      path: configFile,
      env,
      mustExist: flags.config !== undefined,
    });
    log.addSecrets(secretsOf(loaded.raw, env));
    if (!flags.verbose) log.setLevel(loaded.config.logging.level);
    return { ...loaded, home };
  });

  const paths = lazy(async (): Promise<Paths> => {
    const { workspacePath } = await import("./config/paths.ts");
    const { config: values, home, path } = await config();
    const workspace = workspacePath(values, home, platform, flags);
    return { home, configFile: path, workspace: await followLinks(files, workspace) };
  });

  const sessions = lazy(async (): Promise<SessionStore> => {
    const { createSessionStore } = await import("./sessions/store.ts");
    const { workspace, home } = await paths();
    const { contextWindowTokens } = (await config()).config.agents.defaults;
    const legacy = { homeSessions: join(home, "sessions") };
    return createSessionStore({ files, locks, clock, log, workspace, legacy, tokens: contextWindowTokens });
  });

  const toolbox = lazy(async (): Promise<Toolbox> => {
    const [{ createToolbox }, { createSpill }, tools] = await Promise.all([
      import("./agent/toolbox.ts"),
      import("./agent/spill.ts"),
      import("./tools/registry.ts"),
    ]);
    const { workspace } = await paths();
    const { agents, tools: settings } = (await config()).config;
    const isEnabled = (name: string) => (name === "exec" ? settings.exec.enable : settings.file.enable);
    const spill = createSpill({ files, clock, workspace });
    return createToolbox({
      tools: Object.values(tools).filter(({ name }) => isEnabled(name)),
      workspace,
      ports: await toolPorts(),
      maxResultChars: agents.defaults.maxToolResultChars,
      spill: ({ sessionKey }, { id }, text) => spill(sessionKey, id, text),
      log,
    });
  });

  async function toolPorts(): Promise<(run: ToolRun) => ToolPorts> {
    const [{ createWorkspaceFiles }, { createToolShell }, { spillFolder }] = await Promise.all([
      import("./lib/workspace-files.ts"),
      import("./lib/shell.ts"),
      import("./agent/spill.ts"),
    ]);
    const { workspace, configFile } = await paths();
    const { exec, restrictToWorkspace, allowedPaths } = (await config()).config.tools;
    const shell = createToolShell({
      processes,
      env,
      home: homeFolder,
      defaultTimeoutSeconds: exec.timeout,
      allowedEnvKeys: exec.allowedEnvKeys,
      pathPrepend: exec.pathPrepend,
      pathAppend: exec.pathAppend,
      os: platform.os,
    });
    return ({ sessionKey }) => ({
      shell,
      files: createWorkspaceFiles({
        system: files,
        workspace,
        home: homeFolder,
        restrict: restrictToWorkspace,
        allowedPaths,
        hidden: [configFile, ".nanobot"],
        protectedPaths: ["sessions", "cron/jobs.json"],
        ownResults: spillFolder(sessionKey),
      }),
    });
  }

  async function chooseModel({
    model,
    offline = false,
  }: {
    model?: string;
    offline?: boolean;
  }): Promise<ModelChoice> {
    const [{ resolveProvider }, { protocols }, { expandVariables }] = await Promise.all([
      import("./providers/resolve.ts"),
      import("./providers/registry.ts"),
      import("./config/expand.ts"),
    ]);
    const { config: values } = await config();
    const { defaults } = values.agents;
    const limits = {
      contextWindowTokens: defaults.contextWindowTokens,
      maxTokens: defaults.maxTokens,
      temperature: defaults.temperature,
      reasoningEffort: defaults.reasoningEffort ?? undefined,
    };
    const resolved = offline
      ? ({ kind: "unconfigured", why: "asked for" } as const)
      : resolveProvider({
          model: model ?? defaults.model ?? undefined,
          provider: defaults.provider,
          providers: values.providers,
          env,
        });
    if (resolved.kind === "failed") throw new UserError(resolved.reason, { hint: resolved.hint });
    if (resolved.kind === "unconfigured") {
      return {
        model: await protocols.offline(),
        name: "offline",
        why: resolved.why,
        offline: true,
        ...limits,
      };
    }
    const { endpoint, name, why } = resolved;
    const section = expandVariables(endpoint, env, ["providers", endpoint.provider]);
    if (section.apiKey) log.addSecrets([section.apiKey]);
    const chat = await protocols.chatCompletions({ ...section, fetch: platform.fetch, clock });
    return { model: chat, name, why, offline: false, ...limits };
  }

  async function prepareWorkspace({ onlyWhenMissing = false } = {}): Promise<readonly string[]> {
    const { workspacePath } = await import("./config/paths.ts");
    const { config: values, home } = await config();
    const workspace = workspacePath(values, home, platform, flags);
    if (onlyWhenMissing && (await files.stat(workspace)) !== undefined) return [];
    const workspaces = await import("./config/workspace.ts");
    return workspaces.prepareWorkspace({ files, assets, workspace });
  }

  async function converse(
    options: ConverseOptions,
    signal: AbortSignal,
  ): Promise<FinalMessage["outcome"] | undefined> {
    const [{ createMemoryBus }, { createDispatch }, { createPromptSource }, { createRuntimeContext }] =
      await Promise.all([
        import("./bus/memory.ts"),
        import("./agent/dispatch.ts"),
        import("./agent/prompt-source.ts"),
        import("./agent/prompt.ts"),
      ]);
    const { workspace } = await paths();
    const { config: values, warnings } = await config();
    for (const warning of warnings) log.warn(warning);
    const { defaults } = values.agents;
    const bus = createMemoryBus();
    const { runtime, os, arch } = platform;
    const dispatch = createDispatch({
      version,
      bus,
      clock,
      ids,
      log,
      sessions: await sessions(),
      toolbox: await toolbox(),
      model: options.model,
      systemPrompt: createPromptSource({ files, assets, log, facts: { os, arch, runtime, workspace } }),
      runtimeContext: createRuntimeContext(defaults.timezone ?? platform.timeZone),
      maxToolIterations: defaults.maxToolIterations,
      toolHintMaxLength: defaults.toolHintMaxLength,
    });
    const channel = await openChannel(options, bus);
    return runBehind(channel, bus, dispatch.run, signal);
  }

  async function openChannel(
    { channel: name, config: settings }: ConverseOptions,
    bus: Bus,
  ): Promise<Channel> {
    const [{ channels }, { parse }] = await Promise.all([
      import("./channels/registry.ts"),
      import("valibot"),
    ]);
    if (!Object.hasOwn(channels, name)) throw new UserError(`There is no channel "${name}"`);
    const { channel } = await channels[name as keyof typeof channels]();
    const never = new AbortController().signal;
    return channel.create(parse(channel.config, settings), {
      emit: async (message) => void (await bus.publishInbound(message, never)),
      files,
      clock,
      ids,
      log,
      terminal,
    });
  }

  /** Source, agent and sink together, until the source is at its end. */
  async function runBehind(
    channel: Channel,
    bus: Bus,
    agent: (signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<FinalMessage["outcome"] | undefined> {
    let outcome: FinalMessage["outcome"] | undefined;
    const agentEnd = new AbortController();
    const deliveryEnd = new AbortController();
    const working = agent(AbortSignal.any([signal, agentEnd.signal]));
    const delivering = (async () => {
      for await (const { message, done } of bus.outbound(deliveryEnd.signal)) {
        await channel.send(message, deliveryEnd.signal);
        if (message.kind === "final") outcome = message.outcome;
        await done();
      }
    })();
    try {
      await Promise.race([channel.start(signal), delivering]);
    } finally {
      agentEnd.abort();
      await working;
      deliveryEnd.abort();
      await channel.stop();
    }
    await delivering;
    return outcome;
  }

  return {
    version,
    platform,
    flags,
    log,
    vendors,
    paths,
    sessions,
    toolbox,
    chooseModel,
    prepareWorkspace,
    converse,
    flush: log.flush,
  };
}

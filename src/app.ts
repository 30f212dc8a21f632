/** The composition root: knows every part, builds each when it is first asked for, and hands it on as a port. */

import { Buffer } from "node:buffer";
import type {
  App,
  CommandsInfo,
  ConverseOptions,
  GlobalFlags,
  LocalServer,
  Paths,
  ProviderInfo,
} from "./core/app.ts";
import type { AskOwner } from "./core/approval.ts";
import type { AuditLog } from "./core/audit.ts";
import type { Bus } from "./core/bus.ts";
import type { Channel } from "./core/channel.ts";
import { UserError } from "./core/errors.ts";
import type { ExecSessions } from "./core/exec-sessions.ts";
import type { MediaStore } from "./core/media.ts";
import type { FinalMessage } from "./core/messages.ts";
import type { Platform } from "./core/platform.ts";
import type { ReplayOptions, TurnReplay } from "./core/replay.ts";
import type { SessionStore } from "./core/session.ts";
import type { AnyTool, ToolFiles, ToolPorts } from "./core/tool.ts";
import type { Toolbox, ToolRun } from "./core/toolbox.ts";
import type { ModelCall, UsageStore } from "./core/usage.ts";
import type { Workers } from "./core/workers.ts";
import { never } from "./lib/abort.ts";
import { lazy } from "./lib/lazy.ts";
import { join } from "./lib/path.ts";
import { followLinks } from "./lib/real-path.ts";
import { createLog, type ProcessLog } from "./platform/log.ts";
import { vendors } from "./providers/vendors/vendors.ts";

export interface ProcessApp extends App {
  /** Resolves when what calls to models used and the calls of tools are recorded, and the log is written. */
  flush(): Promise<void>;
  /** Ends every thread that still runs. For exits. */
  endThreads(): void;
  /** Takes every known secret out of a text. */
  mask(text: string): string;
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
    log.addSecrets(secretsOf([loaded.raw, loaded.config], env));
    if (!flags.verbose) log.setLevel(loaded.config.logging.level);
    return { ...loaded, home };
  });

  /** Variables are filled in here, section by section: one that is missing elsewhere stops nobody. */
  const agentSettings = lazy(async () => {
    const [{ expandVariables }, { checkTimeZone }] = await Promise.all([
      import("./config/expand.ts"),
      import("./config/time-zone.ts"),
    ]);
    const settings = expandVariables((await config()).config.agents.defaults, env, ["agents", "defaults"]);
    if (settings.timezone !== undefined) checkTimeZone(settings.timezone);
    return settings;
  });

  const toolSettings = lazy(async () => {
    const { expandVariables } = await import("./config/expand.ts");
    return expandVariables((await config()).config.tools, env, ["tools"]);
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
    const { modelPresets } = (await config()).config;
    // A model may be chosen later whose window is larger than the one in the settings.
    const windows = [await agentSettings(), ...Object.values(modelPresets)];
    const tokens = Math.max(...windows.map(({ contextWindowTokens }) => contextWindowTokens));
    const legacy = { homeSessions: join(home, "sessions") };
    const { forget: onArchived } = await readLogs();
    return createSessionStore({ files, locks, clock, log, workspace, legacy, tokens, onArchived });
  });

  const readLogs = lazy(async () => (await import("./lib/read-log.ts")).createReadLogs());

  let openUsage: UsageStore | undefined;
  const usage = lazy(async (): Promise<UsageStore> => {
    const { createUsageStore } = await import("./usage/store.ts");
    const { workspace } = await paths();
    const { timezone: timeZone = platform.timeZone } = await agentSettings();
    openUsage = createUsageStore({ files, clock, locks, log, workspace, timeZone });
    return openUsage;
  });

  let openAudit: AuditLog | undefined;
  const audit = lazy(async (): Promise<AuditLog> => {
    const { createAuditLog } = await import("./audit/log.ts");
    const { workspace } = await paths();
    openAudit = createAuditLog({ files, clock, ids, locks, log, workspace });
    return openAudit;
  });

  const media = lazy(async (): Promise<MediaStore> => {
    const { createMediaStore } = await import("./agent/media.ts");
    const { workspace } = await paths();
    return createMediaStore({ files, clock, log, workspace });
  });

  /** Who can put a question to the owner now. */
  let asker: AskOwner | undefined;
  const approvals = lazy(async (): Promise<AskOwner> => {
    const { createApprovals } = await import("./access/approvals.ts");
    return createApprovals({ clock, log, asker: () => asker });
  });

  async function askAtTerminal(onInterrupt: () => void): Promise<void> {
    const { createTerminalAsker } = await import("./channels/cli/terminal-asker.ts");
    asker = createTerminalAsker({ terminal, clock, color: !env["NO_COLOR"], onInterrupt });
  }

  const enabledTools = lazy(async (): Promise<readonly AnyTool[]> => {
    const tools = await import("./tools/registry.ts");
    const { exec, file, web } = await toolSettings();
    const isEnabled = (name: string) => {
      if (["exec", "list_exec_sessions", "write_stdin"].includes(name)) return exec.enable;
      return name.startsWith("web_") ? web.enable : file.enable;
    };
    return Object.values(tools).filter(({ name }) => isEnabled(name));
  });

  const toolbox = lazy(async (): Promise<Toolbox> => {
    const [{ createToolbox }, { createSpill }] = await Promise.all([
      import("./agent/toolbox.ts"),
      import("./agent/spill.ts"),
    ]);
    const { workspace } = await paths();
    const { record } = await audit();
    const spill = createSpill({ files, clock, workspace });
    return createToolbox({
      tools: await enabledTools(),
      workspace,
      ports: await toolPorts(),
      maxResultChars: (await agentSettings()).maxToolResultChars,
      mask: log.mask,
      ask: async (question, signal) => (await approvals())(question, signal),
      audit: record,
      spill: ({ sessionKey }, { id }, text) => spill(sessionKey, id, text),
      keepImage: async ({ data, name }) =>
        (await media()).save({
          channel: "tools",
          bytes: Buffer.from(data, "base64"),
          name,
          imagesOnly: true,
        }),
      clock,
      log,
    });
  });

  /** The files that tools and the prompt may touch; `ownResults` are what one session's tools put aside. */
  const openFiles = lazy(async (): Promise<(ownResults?: string) => ToolFiles> => {
    const [{ createWorkspaceFiles }, { HIDDEN, READ_ONLY }] = await Promise.all([
      import("./lib/workspace-files.ts"),
      import("./lib/own-places.ts"),
    ]);
    const { workspace, configFile } = await paths();
    const { restrictToWorkspace, allowedPaths } = await toolSettings();
    return (ownResults) =>
      createWorkspaceFiles({
        system: files,
        workspace,
        home: homeFolder,
        restrict: restrictToWorkspace,
        allowedPaths,
        hidden: [configFile, HIDDEN],
        protectedPaths: READ_ONLY,
        ownResults,
      });
  });

  let startedWorkers: Workers | undefined;
  const startWorkers = lazy(async (): Promise<Workers> => {
    const { createWorkers } = await import("./workers.ts");
    startedWorkers = createWorkers({ clock });
    return startedWorkers;
  });
  const workers: Workers = {
    run: async (role, input, options) => (await startWorkers()).run(role, input, options),
    endAll: () => startedWorkers?.endAll(),
  };

  /** How commands are judged, shut in and started. */
  const commands = lazy(async () => {
    const [{ createCommands }, { spillFolder }] = await Promise.all([
      import("./lib/commands.ts"),
      import("./agent/spill.ts"),
    ]);
    const { workspace, configFile } = await paths();
    const { exec: settings, restrictToWorkspace, allowedPaths } = await toolSettings();
    return createCommands({
      settings,
      restrictToWorkspace,
      allowedPaths,
      files,
      processes,
      env,
      os: platform.os,
      home: homeFolder,
      workspace,
      configFile,
      ownResults: spillFolder,
    });
  });

  /** One for all conversations, since what runs is counted over all of them. */
  const execSessions = lazy(async (): Promise<ExecSessions> => {
    const { createExecSessions } = await import("./lib/exec-sessions.ts");
    const { spec } = await commands();
    return createExecSessions({ processes, clock, ids, spec: (start) => spec(start.command, start) });
  });

  async function describeCommands(): Promise<CommandsInfo> {
    const { enable: enabled, policy } = (await toolSettings()).exec;
    return { enabled, policy, sandbox: await (await commands()).sandbox.state() };
  }

  async function toolPorts(): Promise<(run: ToolRun) => ToolPorts> {
    const [{ createWeb }, { createWebSearch }, { spillFolder }] = await Promise.all([
      import("./platform/web.ts"),
      import("./lib/web-search/create-web-search.ts"),
      import("./agent/spill.ts"),
    ]);
    const reads = await readLogs();
    const { web: settings, ssrfWhitelist } = await toolSettings();
    const { proxy, proxyResolvesNames, userAgent } = settings;
    const { fetch } = platform;
    const web = await createWeb({ clock, env, fetch, ssrfWhitelist, proxy, proxyResolvesNames, userAgent });
    const search = createWebSearch({
      settings: settings.search,
      env,
      web,
      clock,
      onSecret: (secret) => log.addSecrets([secret]),
    });
    const pageReader = settings.fetch.useJinaReader
      ? (await import("./lib/page-reader.ts")).createPageReader({ web, key: env["JINA_API_KEY"] })
      : undefined;
    const { shellOf } = await commands();
    const running = await execSessions();
    const filesFor = await openFiles();
    return ({ sessionKey }) => ({
      shell: shellOf(sessionKey, web),
      execSessions: running,
      web,
      search,
      pageReader,
      workers,
      files: filesFor(spillFolder(sessionKey)),
      reads: reads.of(sessionKey),
    });
  }

  const chooser = lazy(async () => {
    const [{ createModelChooser }, { expandVariables }, { timeoutsFrom }] = await Promise.all([
      import("./providers/choose.ts"),
      import("./config/expand.ts"),
      import("./config/timeouts.ts"),
    ]);
    const { modelPresets, providers } = (await config()).config;
    return createModelChooser({
      settings: await agentSettings(),
      presets: modelPresets,
      providers,
      env,
      expand: (value, path) => expandVariables(value, env, path),
      onSecret: (secret) => log.addSecrets([secret]),
      fetch: platform.fetch,
      clock,
      random: platform.random,
      log,
      ...timeoutsFrom(env),
      onCall: recordCall,
    });
  });

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
    const [{ toRecord }, store, { config: values }] = await Promise.all([
      import("./usage/record.ts"),
      usage(),
      config(),
    ]);
    const { modelPrices: prices } = values;
    return (call: ModelCall, now: number) => store.record(toRecord(call, { prices, now }));
  });

  async function describeProviders(): Promise<readonly ProviderInfo[]> {
    const [describe, { mainSettings }, { expandVariables }] = await Promise.all([
      import("./providers/vendors/describe.ts"),
      import("./providers/choose.ts"),
      import("./config/expand.ts"),
    ]);
    const { modelPresets: presets, providers } = (await config()).config;
    const { model, provider } = mainSettings({
      settings: await agentSettings(),
      presets,
      expand: (value, path) => expandVariables(value, env, path),
    });
    return describe.describeProviders({ model, provider, providers, env });
  }

  async function localServers(signal: AbortSignal): Promise<readonly LocalServer[]> {
    const { discoverLocalServers } = await import("./providers/vendors/discover.ts");
    return discoverLocalServers({ fetch: platform.fetch, clock, signal });
  }

  async function prepareWorkspace({ onlyWhenMissing = false } = {}): Promise<readonly string[]> {
    const { workspacePath } = await import("./config/paths.ts");
    const { config: values, home } = await config();
    const workspace = workspacePath(values, home, platform, flags);
    const { createWorkspace, prepareWorkspace: complete } = await import("./config/workspace.ts");
    const make = onlyWhenMissing ? createWorkspace : complete;
    return make({ files, assets, workspace });
  }

  const systemPrompt = lazy(async () => {
    const { createPromptSource } = await import("./agent/prompt-source.ts");
    const { runtime, os, arch } = platform;
    const { workspace } = await paths();
    const facts = { os, arch, runtime, workspace };
    return createPromptSource({ files: (await openFiles())(), assets, log, facts });
  });

  async function replay(options: ReplayOptions, signal: AbortSignal): Promise<TurnReplay> {
    const [{ replayTurn }, { createCallCheck }] = await Promise.all([
      import("./agent/replay.ts"),
      import("./agent/prepare-call.ts"),
    ]);
    const tools = await toolbox();
    const deps = {
      sessions: await sessions(),
      systemPrompt: await systemPrompt(),
      tools,
      problemOf: createCallCheck(await enabledTools(), tools.definitions, log.mask),
      maxRounds: (await agentSettings()).maxToolIterations,
    };
    return replayTurn(options, deps, signal);
  }

  async function converse(
    options: ConverseOptions,
    signal: AbortSignal,
  ): Promise<FinalMessage["outcome"] | undefined> {
    const [
      { createMemoryBus },
      { createDispatch },
      { createImageLoader },
      { createRuntimeContext },
      { createSessionModels },
      { runBehind },
    ] = await Promise.all([
      import("./bus/memory.ts"),
      import("./agent/dispatch.ts"),
      import("./agent/images.ts"),
      import("./agent/prompt.ts"),
      import("./agent/session-models.ts"),
      import("./channels/delivery.ts"),
    ]);
    const { workspace } = await paths();
    for (const warning of (await config()).warnings) log.warn(warning);
    const settings = await agentSettings();
    const bus = createMemoryBus();
    const dispatch = createDispatch({
      version,
      bus,
      clock,
      ids,
      log,
      sessions: await sessions(),
      toolbox: await toolbox(),
      audit: (await audit()).record,
      models: createSessionModels({
        standard: options.model,
        isWanted: options.isModelWanted,
        presets: Object.keys((await config()).config.modelPresets),
        find: async (name) => (await chooser())({ model: name }),
        log,
      }),
      systemPrompt: await systemPrompt(),
      images: createImageLoader({ files, log, workspace }),
      mask: log.mask,
      maskStream: log.maskStream,
      runtimeContext: createRuntimeContext(settings.timezone ?? platform.timeZone),
      maxToolIterations: settings.maxToolIterations,
      toolHintMaxLength: settings.toolHintMaxLength,
      showReasoning: options.showReasoning ?? false,
      onStop: async (sessionKey) => (await execSessions()).endOf(sessionKey),
    });
    const channel = await openChannel(options, bus);
    asker = channel.ask;
    try {
      return await runBehind({ channel, bus, agent: dispatch.run, signal });
    } finally {
      asker = undefined;
    }
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
    return channel.create(parse(channel.config, settings), {
      emit: async (message) => void (await bus.publishInbound(message, never)),
      files,
      clock,
      ids,
      log,
      terminal,
    });
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
    commands: describeCommands,
    askAtTerminal,
    usage,
    audit,
    replay,
    media,
    chooseModel: async (wanted) => (await chooser())(wanted),
    providers: describeProviders,
    localServers,
    prepareWorkspace,
    converse,
    endThreads: workers.endAll,
    async flush() {
      await Promise.all(recording);
      await openUsage?.flush();
      await openAudit?.flush();
      await log.flush();
    },
    mask: log.mask,
  };
}

/** The composition root: knows every part, builds each when it is first asked for, and hands it on as a port. */

import { createModels } from "./app/models.ts";
import { createSettings } from "./app/settings.ts";
import { createTools } from "./app/tools.ts";
import type { App, ConverseOptions, GlobalFlags } from "./core/app.ts";
import type { AskOwner } from "./core/approval.ts";
import type { AuditLog } from "./core/audit.ts";
import type { Bus } from "./core/bus.ts";
import type { Channel } from "./core/channel.ts";
import { UserError } from "./core/errors.ts";
import type { MediaStore } from "./core/media.ts";
import type { FinalMessage } from "./core/messages.ts";
import type { Platform } from "./core/platform.ts";
import type { ReplayOptions, TurnReplay } from "./core/replay.ts";
import type { SessionStore } from "./core/session.ts";
import { never } from "./lib/abort.ts";
import { lazy } from "./lib/lazy.ts";
import { join } from "./lib/path.ts";
import { createSecrets } from "./lib/secrets.ts";
import { createLog, type ProcessLog } from "./platform/log.ts";
import { vendors } from "./providers/vendors/vendors.ts";

export interface ProcessApp extends App {
  /** Resolves when what calls to models used and the calls of tools are recorded, and the log is written. */
  flush(): Promise<void>;
  /** Ends every thread that still runs. For exits. */
  endThreads(): void;
}

export interface AppOptions {
  readonly platform: Platform;
  readonly flags: GlobalFlags;
  readonly version: string;
}

export function createApp({ platform, flags, version }: AppOptions): ProcessApp {
  const { files, locks, clock, ids, env, terminal, assets } = platform;
  const secrets = createSecrets();
  const level = flags.verbose ? "debug" : "warn";
  const log: ProcessLog = createLog({ level, mask: secrets.mask, write: terminal.err });

  const settings = createSettings({ platform, flags, log, secrets });
  const { paths } = settings;
  const models = createModels({ platform, settings, log, secrets });
  const tools = createTools({
    platform,
    settings,
    log,
    secrets,
    audit: () => audit(),
    media: () => media(),
    ask: async (question, signal) => (await approvals())(question, signal),
  });

  const sessions = lazy(async (): Promise<SessionStore> => {
    const { createSessionStore } = await import("./sessions/store.ts");
    const { workspace, home } = await paths();
    const { modelPresets } = (await settings.loaded()).config;
    // A model may be chosen later whose window is larger than the one in the settings.
    const windows = [await settings.agent(), ...Object.values(modelPresets)];
    const tokens = Math.max(...windows.map(({ contextWindowTokens }) => contextWindowTokens));
    const legacy = { homeSessions: join(home, "sessions") };
    const onArchived = tools.forget;
    const { mask } = secrets;
    return createSessionStore({ files, locks, clock, log, mask, workspace, legacy, tokens, onArchived });
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

  async function prepareWorkspace({ onlyWhenMissing = false } = {}): Promise<readonly string[]> {
    const { createWorkspace, prepareWorkspace: complete } = await import("./config/workspace.ts");
    const make = onlyWhenMissing ? createWorkspace : complete;
    return make({ files, assets, workspace: await settings.namedWorkspace() });
  }

  const systemPrompt = lazy(async () => {
    const { createPromptSource } = await import("./agent/prompt-source.ts");
    const { runtime, os, arch } = platform;
    const { workspace } = await paths();
    const facts = { os, arch, runtime, workspace };
    return createPromptSource({ files: (await tools.openFiles())(), assets, log, facts });
  });

  async function replay(options: ReplayOptions, signal: AbortSignal): Promise<TurnReplay> {
    const { replayTurn } = await import("./agent/replay.ts");
    const deps = {
      sessions: await sessions(),
      systemPrompt: await systemPrompt(),
      tools: await tools.toolbox(),
      maxRounds: (await settings.agent()).maxToolIterations,
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
    const { config, warnings } = await settings.loaded();
    for (const warning of warnings) log.warn(warning);
    const { timezone = platform.timeZone, maxToolIterations, toolHintMaxLength } = await settings.agent();
    const bus = createMemoryBus();
    const dispatch = createDispatch({
      version,
      bus,
      clock,
      ids,
      log,
      sessions: await sessions(),
      toolbox: await tools.toolbox(),
      audit: (await audit()).record,
      models: createSessionModels({
        standard: options.model,
        isWanted: options.isModelWanted,
        presets: Object.keys(config.modelPresets),
        find: async (name) => (await models.chooser())({ model: name }),
        log,
      }),
      systemPrompt: await systemPrompt(),
      images: createImageLoader({ files, log, workspace }),
      mask: secrets.mask,
      maskStream: secrets.maskStream,
      runtimeContext: createRuntimeContext(timezone),
      maxToolIterations,
      toolHintMaxLength,
      showReasoning: options.showReasoning ?? false,
      leftRunning: tools.leftRunning,
    });
    const channel = await openChannel(options, bus);
    asker = channel.ask;
    try {
      return await runBehind({ channel, bus, agent: dispatch.run, signal });
    } finally {
      asker = undefined;
    }
  }

  async function openChannel({ channel: name, config }: ConverseOptions, bus: Bus): Promise<Channel> {
    const [{ channels }, { parse }] = await Promise.all([
      import("./channels/registry.ts"),
      import("valibot"),
    ]);
    if (!Object.hasOwn(channels, name)) throw new UserError(`There is no channel "${name}"`);
    const { channel } = await channels[name as keyof typeof channels]();
    return channel.create(parse(channel.config, config), {
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
    toolbox: tools.toolbox,
    commandsLeft: tools.leftRunning.count,
    mask: secrets.mask,
    commands: tools.describeCommands,
    askAtTerminal,
    usage: models.usage,
    audit,
    replay,
    media,
    chooseModel: async (wanted) => (await models.chooser())(wanted),
    providers: models.describe,
    localServers: models.localServers,
    prepareWorkspace,
    converse,
    endThreads: tools.endThreads,
    async flush() {
      await models.flush();
      await openAudit?.flush();
      await log.flush();
    },
  };
}

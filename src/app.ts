/** The composition root: knows every part, builds each when it is first asked for, and hands it on as a port. */

import { createAgent } from "./app/agent.ts";
import { createBackground } from "./app/background.ts";
import { createGatewayCommands } from "./app/gateway/commands.ts";
import { createJobsPort, timeKeeping } from "./app/jobs.ts";
import { createMemory } from "./app/memory.ts";
import { createModels } from "./app/models.ts";
import { createOutbound, throughGateway } from "./app/outbound.ts";
import { createSettings } from "./app/settings.ts";
import { createSkillsPort } from "./app/skills.ts";
import { createTools } from "./app/tools.ts";
import type { App, GlobalFlags } from "./core/app.ts";
import type { AskOwner } from "./core/approval.ts";
import type { AuditLog } from "./core/audit.ts";
import type { MediaStore } from "./core/media.ts";
import type { Platform } from "./core/platform.ts";
import type { ReplayOptions, TurnReplay } from "./core/replay.ts";
import type { SessionStore } from "./core/session.ts";
import type { Spawner } from "./core/tasks.ts";
import type { ToolRun } from "./core/tool-run.ts";
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
  const background = createBackground({ platform, settings, log });
  const models = createModels({ platform, settings, log, secrets, observe: background.observe });
  const skills = createSkillsPort({ platform, settings, log });
  const jobs = createJobsPort({ platform, settings, log });
  const memory = createMemory({
    platform,
    settings,
    log,
    secrets,
    pause: background.pause,
    sessions: () => sessions(),
  });
  /** Whoever sits at the terminal, while they can be asked. */
  let asker: AskOwner | undefined;
  /** What tools ask, send and give away by: that of the conversation or the gateway that runs. */
  let ask: AskOwner = async (question, signal) => (await terminalApprovals())(question, signal);
  let outbound = createOutbound({
    mask: secrets.mask,
    elsewhere: throughGateway((command, args, signal) => gateway.askGateway(command, args, signal)),
  });
  let spawner: (run: ToolRun) => Spawner | undefined = () => undefined;
  const tools = createTools({
    platform,
    settings,
    log,
    secrets,
    memory: memory.store,
    memorySearch: memory.search,
    jobs: jobs.open,
    isTimeKept: timeKeeping((command, args, signal) => gateway.askGateway(command, args, signal)),
    skills,
    limits: background.limits,
    tellOwner: background.tellHourly,
    audit: () => audit(),
    media: () => media(),
    ask: (question, signal) => ask(question, signal),
    outbound: (run) => outbound(run),
    spawner: (run) => spawner(run),
  });
  const parts = {
    version,
    platform,
    settings,
    log,
    secrets,
    models,
    tools,
    background,
    memory,
    skills,
    jobs,
    sessions: () => sessions(),
    audit: () => audit(),
    media: () => media(),
  };
  const agent = createAgent(parts);
  const gateway = createGatewayCommands({
    ...parts,
    agent,
    checkTools: tools.check,
    use(ports) {
      ask = ports.ask;
      outbound = ports.outbound;
      spawner = ports.spawner;
    },
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

  const terminalApprovals = lazy(async (): Promise<AskOwner> => {
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

  async function replay(options: ReplayOptions, signal: AbortSignal): Promise<TurnReplay> {
    const { replayTurn } = await import("./agent/replay.ts");
    const deps = {
      sessions: await sessions(),
      systemPrompt: await agent.systemPrompt(),
      tools: await tools.toolbox(),
      maxRounds: (await settings.agent()).maxToolIterations,
    };
    return replayTurn(options, deps, signal);
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
    memory: memory.store,
    memorySearch: memory.search,
    skills,
    jobs: jobs.open,
    chooseModel: async (wanted) => (await models.chooser())(wanted),
    providers: models.describe,
    localServers: models.localServers,
    prepareWorkspace,
    converse: async (options, signal) => {
      const { converse } = await import("./app/conversation.ts");
      const terminalPorts = {
        setAsker: (wanted: AskOwner | undefined) => {
          asker = wanted;
        },
        use(ports: { outbound: typeof outbound; spawner: typeof spawner }) {
          outbound = ports.outbound;
          spawner = ports.spawner;
        },
      };
      return converse({ ...parts, ...gateway, agent, ...terminalPorts }, options, signal);
    },
    ...gateway,
    endThreads: tools.endThreads,
    async flush() {
      await models.flush();
      await openAudit?.flush();
      await log.flush();
    },
  };
}

/** The tools of a process: which are enabled, what they can reach, and what stands before and behind each call. */

import { Buffer } from "node:buffer";
import type { CommandsInfo } from "../core/app.ts";
import type { AskOwner } from "../core/approval.ts";
import type { AuditLog } from "../core/audit.ts";
import type { HourlyLimits } from "../core/background.ts";
import type { ExecSessions } from "../core/exec-sessions.ts";
import type { MediaStore } from "../core/media.ts";
import type { MemorySearch, MemoryStore } from "../core/memory.ts";
import type { Log, Platform } from "../core/platform.ts";
import type { Jobs } from "../core/schedule.ts";
import type { Spawner } from "../core/tasks.ts";
import type { AnyTool, Outbound, ToolFiles, ToolPorts } from "../core/tool.ts";
import type { ToolRun } from "../core/tool-run.ts";
import type { Toolbox } from "../core/toolbox.ts";
import type { Workers } from "../core/workers.ts";
import { lazy } from "../lib/lazy.ts";
import { createReadLogs } from "../lib/read-log.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { WorkspaceSkills } from "../skills/skills.ts";
import type { Settings } from "./settings.ts";
import { createWebPorts } from "./web.ts";

export interface ToolsOptions {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
  /** Taken out of every result; learns the keys of search engines. */
  readonly secrets: Secrets;
  audit(): Promise<AuditLog>;
  media(): Promise<MediaStore>;
  readonly ask: AskOwner;
  readonly outbound: (run: ToolRun) => Outbound;
  /** `undefined` where nothing can work in the background. */
  readonly spawner: (run: ToolRun) => Spawner | undefined;
  memory(): Promise<Pick<MemoryStore, "keepVersion">>;
  memorySearch(): Promise<MemorySearch>;
  jobs(): Promise<Jobs>;
  /** See `ToolPorts`. */
  readonly isTimeKept: NonNullable<ToolPorts["isTimeKept"]>;
  limits(): Promise<HourlyLimits>;
  /** See `ToolPorts`. */
  readonly tellOwner: NonNullable<ToolPorts["tellOwner"]>;
  skills(): Promise<WorkspaceSkills>;
}

export function createTools(options: ToolsOptions) {
  const { platform, settings, log, secrets, audit, media, ask, outbound, spawner } = options;
  const { files, clock, ids, env, homeFolder: home, processes } = platform;
  const reads = createReadLogs();

  const enabled = lazy(async (): Promise<readonly AnyTool[]> => {
    const tools = await import("../tools/registry.ts");
    const sections = await settings.tools();
    const all: readonly AnyTool[] = Object.values(tools);
    return all.filter(({ section }) => section === undefined || sections[section].enable);
  });

  async function createBox(tools: readonly AnyTool[]): Promise<Toolbox> {
    const [{ createToolbox }, { createSpill }] = await Promise.all([
      import("../agent/toolbox.ts"),
      import("../agent/spill.ts"),
    ]);
    const { workspace } = await settings.paths();
    const { record } = await audit();
    const spill = createSpill({ files, clock, workspace });
    return createToolbox({
      tools,
      workspace,
      ports: await createPorts(),
      maxResultChars: (await settings.agent()).maxToolResultChars,
      mask: secrets.mask,
      ask,
      audit: record,
      spill: ({ sessionKey }, { id }, text) => spill(sessionKey, id, text),
      keepImage: async ({ data, name }) =>
        (await media()).save({
          channel: "tools",
          bytes: Buffer.from(data, "base64"),
          name,
          imagesOnly: true,
        }),
      limits: await options.limits(),
      clock,
      log,
    });
  }

  const toolbox = lazy(async () => createBox(await enabled()));
  /** A subagent works, and leaves talking, remembering dates and asking others to whoever asked it. */
  const subagentToolbox = lazy(async () =>
    createBox((await enabled()).filter(({ mainOnly = false }) => !mainOnly)),
  );

  /** The files that tools and the prompt may touch; `ownResults` are what one session's tools put aside. */
  const openFiles = lazy(async (): Promise<(ownResults?: string) => ToolFiles> => {
    const [{ createWorkspaceFiles }, { ownPlaces }, { keptBefore }, { createPinnedFiles }] =
      await Promise.all([
        import("../lib/workspace-files.ts"),
        import("../lib/own-places.ts"),
        import("../lib/kept-before.ts"),
        import("../platform/pinned-files.ts"),
      ]);
    const { workspace, configFile } = await settings.paths();
    const { restrictToWorkspace, allowedPaths } = await settings.tools();
    const { hidden, readable, readOnly, facts } = ownPlaces({ workspace, configFile });
    // Commands of the model run beside the tools, and can put a link in the way of one.
    const pinned = keptBefore(createPinnedFiles({ os: platform.os }), {
      system: files,
      path: facts,
      keep: async (next) => (await options.memory()).keepVersion(next),
    });
    return (ownResults) =>
      createWorkspaceFiles({
        system: files,
        pinned,
        workspace,
        home,
        restrict: restrictToWorkspace,
        allowedPaths,
        hidden: [configFile, hidden],
        protectedPaths: readOnly,
        readable,
        standIn: async (path) => (await options.skills()).standIn(path),
        ownResults,
      });
  });

  let startedWorkers: Workers | undefined;
  const startWorkers = lazy(async (): Promise<Workers> => {
    const { createWorkers } = await import("../workers.ts");
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
      import("../shell/commands.ts"),
      import("../agent/spill.ts"),
    ]);
    const { workspace, configFile } = await settings.paths();
    const { exec, restrictToWorkspace, allowedPaths } = await settings.tools();
    return createCommands({
      settings: exec,
      restrictToWorkspace,
      allowedPaths,
      files,
      processes,
      env,
      os: platform.os,
      home,
      workspace,
      configFile,
      ownResults: spillFolder,
    });
  });

  /** One for all conversations, since what runs is counted over all of them. */
  const execSessions = lazy(async (): Promise<ExecSessions> => {
    const { createExecSessions } = await import("../shell/exec-sessions.ts");
    const { spec } = await commands();
    return createExecSessions({ processes, clock, ids, spec: (start) => spec(start.command, start) });
  });

  const openWeb = createWebPorts({ platform, settings, log, secrets });

  // Loaded with the first search.
  const memory: MemorySearch = {
    search: async (query, limits) => (await options.memorySearch()).search(query, limits),
  };

  async function createPorts(): Promise<(run: ToolRun) => ToolPorts> {
    const [{ spillFolder }, { createRipgrep }] = await Promise.all([
      import("../agent/spill.ts"),
      import("../shell/ripgrep.ts"),
    ]);
    const web = await openWeb();
    const { shellOf } = await commands();
    const running = await execSessions();
    const filesFor = await openFiles();
    const jobs: Jobs = {
      timeZone: await settings.timeZone(),
      list: async () => (await options.jobs()).list(),
      add: async (job) => (await options.jobs()).add(job),
      remove: async (id) => (await options.jobs()).remove(id),
      setEnabled: async (id, wanted) => (await options.jobs()).setEnabled(id, wanted),
    };
    const mayRunPrograms = (await settings.tools()).exec.enable;
    const ripgrep = mayRunPrograms ? createRipgrep({ files, processes }) : undefined;
    return (run) => ({
      ...web,
      shell: shellOf(run.sessionKey, web.web),
      execSessions: running,
      workers,
      outbound: outbound(run),
      memory,
      jobs,
      isTimeKept: options.isTimeKept,
      tasks: spawner(run),
      tellOwner: options.tellOwner,
      clock,
      ripgrep,
      files: filesFor(spillFolder(run.sessionKey)),
      reads: reads.of(run.sessionKey),
    });
  }

  return {
    toolbox,
    subagentToolbox,
    workers,
    openFiles,
    /** Rejects with a `UserError` for settings that cannot be, without loading any tool. */
    async check(): Promise<void> {
      await Promise.all([openWeb(), commands()]);
    },
    /** Ends every thread that still runs. */
    endThreads: workers.endAll,

    async describeCommands(): Promise<CommandsInfo> {
      const { enable, policy } = (await settings.tools()).exec;
      return { enabled: enable, policy, sandbox: await (await commands()).sandbox.state() };
    },

    /** Commands that go on after the turn that started them. */
    leftRunning: {
      async count(sessionKey: string) {
        return (await execSessions()).list(sessionKey).filter(({ running }) => running).length;
      },
      end: async (sessionKey: string) => (await execSessions()).endOf(sessionKey),
    },

    /** A session was put aside: what its tools have read counts no more. */
    forget: reads.forget,
  };
}

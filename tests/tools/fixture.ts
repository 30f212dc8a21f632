/** A workspace in a temp folder, and tools called in it as the wrapper would: checked arguments, throws as results. */

import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { UserError } from "../../src/core/errors.ts";
import type { InboundId } from "../../src/core/messages.ts";
import type { FileSystem, Processes } from "../../src/core/platform.ts";
import type { AnyTool, PinnedFiles, ToolContext, ToolPorts, ToolResult } from "../../src/core/tool.ts";
import type { GuardedFetch } from "../../src/core/web.ts";
import { createReadLogs } from "../../src/lib/read-log.ts";
import { createWorkspaceFiles, type WorkspaceFilesOptions } from "../../src/lib/workspace-files.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createPinnedFiles } from "../../src/platform/pinned-files.ts";
import { createProcesses } from "../../src/platform/processes.ts";
import { createCommandGuard } from "../../src/shell/command-guard.ts";
import { createCommandSpec } from "../../src/shell/command-spec.ts";
import { createToolShell } from "../../src/shell/tool-shell.ts";

export const system = createFileSystem();
const pinned = createPinnedFiles({ os: process.platform });

/** Real, because the temp folder may itself be a link. */
export function makeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "nanobot-")));
}

export interface FixtureOptions {
  /** A `system` of its own is what the tools get too. */
  readonly files?: Partial<WorkspaceFilesOptions> & { readonly system?: FileSystem };
  /** The environment that commands get their part of. */
  readonly env?: Readonly<Record<string, string>>;
  readonly processes?: Processes;
  readonly signal?: AbortSignal;
  /** Anything but what a test asks for would leave this machine. */
  readonly web?: Partial<GuardedFetch>;
  /** In the place of ports that have no use in most tests. */
  readonly ports?: Partial<ToolPorts>;
}

/** What a test puts in the place of files, without the care for links. */
export function unpinned(given: FileSystem): PinnedFiles {
  const linkStats = (folder: string, names: readonly string[]) =>
    Promise.all(names.map((name) => given.linkStat(join(folder, name))));
  return { ...given, linkStats };
}

/** A port that no test should have reached for. */
function absent<Port extends object>(name: string): Port {
  const fail = () => {
    throw new Error(`The test gave no ${name}`);
  };
  // Every member is asked for through the trap, so that no shape is needed.
  return new Proxy({}, { get: fail }) as Port;
}

/** Commands are judged, and run as they are. */
const noSandbox = {
  state: async () => ({ kind: "none", why: "this is a test" }) as const,
  allowedPaths: async () => [],
};

export function createFixture({ files, env, processes, signal, web, ports }: FixtureOptions = {}) {
  const base = makeFolder();
  const workspace = join(base, "ws");
  mkdirSync(workspace);
  const guardedWeb: GuardedFetch = {
    fetch: async () => ({ ok: false, kind: "failed", reason: "there is no network here" }),
    whyRefused: async () => undefined,
    ...web,
  };
  const context: ToolContext = {
    signal: signal ?? new AbortController().signal,
    sessionKey: "cli:direct",
    turn: "cli:1" as InboundId,
    sender: "user",
    workspace,
    origin: "chat",
    channel: "cli",
    chatId: "direct",
    call: "call_0_0",
    ports: {
      files: createWorkspaceFiles({
        system,
        pinned: files?.system === undefined ? pinned : unpinned(files.system),
        workspace,
        home: base,
        restrict: true,
        hidden: [".nanobot"],
        protectedPaths: ["sessions", ".nanobot", "cron/jobs.json"],
        ...files,
      }),
      reads: createReadLogs().of("cli:direct"),
      shell: createToolShell({
        processes: processes ?? createProcesses(systemClock),
        spec: createCommandSpec({
          files: system,
          env: env ?? { PATH: process.env["PATH"] },
          home: base,
          os: "linux",
        }),
        permit: createCommandGuard({
          files: system,
          web: guardedWeb,
          sandbox: noSandbox,
          policy: "guarded",
          allowPatterns: [],
          denyPatterns: [],
          restrictToWorkspace: true,
          workspace,
          home: base,
          configFile: join(base, "config.json"),
          ownResults: ".nanobot/tool-results/cli",
        }),
        owner: "cli:direct",
        defaultTimeoutSeconds: 60,
      }),
      web: guardedWeb,
      execSessions: absent("execSessions"),
      search: absent("search"),
      workers: absent("workers"),
      outbound: absent("outbound"),
      memory: absent("memory"),
      clock: systemClock,
      ...ports,
    },
  };
  return {
    base,
    workspace,
    context,
    /** Writes a file of the workspace, with its folders. */
    put(path: string, content: string | Uint8Array): string {
      const full = join(workspace, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
      return full;
    },
    async call(tool: AnyTool, args: object): Promise<ToolResult> {
      try {
        const checked = v.parse(tool.parameters, args);
        const permit = await tool.permit?.(checked as never, context);
        if (permit !== undefined && permit.decision !== "allow") return { ok: false, text: permit.reason };
        return await tool.execute(checked as never, context);
      } catch (error) {
        if (error instanceof UserError) return { ok: false, text: error.message };
        throw error;
      }
    },
  };
}

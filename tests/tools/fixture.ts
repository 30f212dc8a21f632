/** A workspace in a temp folder, and tools called in it as the wrapper would: checked arguments, throws as results. */

import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { UserError } from "../../src/core/errors.ts";
import type { Processes } from "../../src/core/platform.ts";
import type { AnyTool, ToolContext, ToolResult } from "../../src/core/tool.ts";
import { createToolShell, type ToolShellOptions } from "../../src/lib/shell.ts";
import { createWorkspaceFiles, type WorkspaceFilesOptions } from "../../src/lib/workspace-files.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createProcesses } from "../../src/platform/processes.ts";

export const system = createFileSystem();

/** Real, because the temp folder may itself be a link. */
export function makeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "nanobot-")));
}

export interface FixtureOptions {
  readonly files?: Partial<WorkspaceFilesOptions>;
  readonly shell?: Partial<ToolShellOptions>;
  readonly processes?: Processes;
  readonly signal?: AbortSignal;
}

export function createFixture({ files, shell, processes, signal }: FixtureOptions = {}) {
  const base = makeFolder();
  const workspace = join(base, "ws");
  mkdirSync(workspace);
  const context: ToolContext = {
    signal: signal ?? new AbortController().signal,
    sessionKey: "cli:direct",
    workspace,
    origin: "chat",
    ports: {
      files: createWorkspaceFiles({
        system,
        workspace,
        home: base,
        restrict: true,
        hidden: [".nanobot"],
        protectedPaths: ["sessions", ".nanobot", "cron/jobs.json"],
        ...files,
      }),
      shell: createToolShell({
        processes: processes ?? createProcesses(systemClock),
        env: { PATH: process.env["PATH"] },
        home: base,
        defaultTimeoutSeconds: 60,
        os: "linux",
        ...shell,
      }),
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
        return await tool.execute(checked as never, context);
      } catch (error) {
        if (error instanceof UserError) return { ok: false, text: error.message };
        throw error;
      }
    },
  };
}

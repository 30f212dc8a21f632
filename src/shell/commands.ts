/** Everything about commands, put together from the settings in `tools.exec`. */

import type { CommandPolicy } from "../core/commands.ts";
import type { Environment, FileSystem, Processes } from "../core/platform.ts";
import type { ToolShell } from "../core/tool.ts";
import type { GuardedFetch } from "../core/web.ts";
import { createCommandGuard } from "./command-guard.ts";
import { type CommandSpec, createCommandSpec } from "./command-spec.ts";
import { createSandbox, type Sandbox } from "./sandbox/sandbox.ts";
import { createToolShell } from "./tool-shell.ts";

interface CommandSettings {
  /** Seconds a command may run unless it asks for another time. 0 means no limit. */
  readonly timeout: number;
  readonly policy: CommandPolicy;
  readonly allowPatterns: readonly string[];
  readonly denyPatterns: readonly string[];
  /** Empty in files of the original, where it was the default: `auto`. */
  readonly sandbox: "auto" | "bwrap" | "none" | "";
  readonly sandboxRoBinds: readonly string[];
  readonly sandboxRwBinds: readonly string[];
  readonly allowedEnvKeys: readonly string[];
  readonly pathPrepend: string;
  readonly pathAppend: string;
}

export interface CommandsOptions {
  readonly settings: CommandSettings;
  readonly restrictToWorkspace: boolean;
  readonly allowedPaths: readonly string[];
  readonly files: FileSystem;
  readonly processes: Pick<Processes, "run">;
  readonly env: Environment;
  readonly os: string;
  readonly home: string | undefined;
  /** Absolute and real. */
  readonly workspace: string;
  readonly configFile: string;
  /** Where the results of a session's tools lie, relative to the workspace. */
  readonly ownResults: (sessionKey: string) => string;
}

export interface Commands {
  readonly sandbox: Sandbox;
  readonly spec: CommandSpec;
  shellOf(sessionKey: string, web: Pick<GuardedFetch, "whyRefused">): ToolShell;
}

/** Throws a `UserError` for settings that would open what must stay closed. */
export async function createCommands({
  settings,
  processes,
  ownResults,
  ...around
}: CommandsOptions): Promise<Commands> {
  const { files, env, os, home } = around;
  const { policy, allowPatterns, denyPatterns, allowedEnvKeys, pathPrepend, pathAppend } = settings;
  const sandbox = await createSandbox({
    ...around,
    processes,
    ownResults,
    mode: settings.sandbox || "auto",
    roBinds: settings.sandboxRoBinds,
    rwBinds: settings.sandboxRwBinds,
  });
  const spec = createCommandSpec({ files, os, sandbox, env, home, allowedEnvKeys, pathPrepend, pathAppend });
  return {
    sandbox,
    spec,
    shellOf(sessionKey, web) {
      const results = ownResults(sessionKey);
      const rules = { policy, allowPatterns, denyPatterns };
      return createToolShell({
        processes,
        spec,
        permit: createCommandGuard({ ...around, ...rules, sandbox, web, ownResults: results }),
        owner: sessionKey,
        defaultTimeoutSeconds: settings.timeout,
      });
    },
  };
}

/** The shell behind the tools: a short environment, so that no secret of this process reaches a command. */

import { UserError } from "../core/errors.ts";
import type { Processes } from "../core/platform.ts";
import type { ToolShell } from "../core/tool.ts";
import { errorCode } from "./error-code.ts";

const BASH = "/bin/bash";
const SH = "/bin/sh";
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Of each stream, of its beginning and of its end. What is too long for the model goes to a file. */
const KEEP_BYTES = 128 * 1024;

const INHERITED = ["LANG", "TMPDIR", "TZ", "USER"] as const;
/** Each makes a program load code before its own; the first two turn our own binary into another program. */
const NEVER: ReadonlySet<string> = new Set(["BUN_OPTIONS", "BUN_BE_BUN", "LD_PRELOAD"]);

export interface ToolShellOptions {
  readonly processes: Processes;
  /** The environment of this process, of which commands get what is named here and nothing else. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string | undefined;
  /** 0 means no limit. */
  readonly defaultTimeoutSeconds: number;
  readonly allowedEnvKeys?: readonly string[];
  /** Folders to search before and after those of PATH, joined by `:`. */
  readonly pathPrepend?: string;
  readonly pathAppend?: string;
  readonly os: string;
}

type Environment = Pick<ToolShellOptions, "env" | "home" | "allowedEnvKeys" | "pathPrepend" | "pathAppend">;

function shortEnvironment({
  env,
  home,
  allowedEnvKeys = [],
  pathPrepend = "",
  pathAppend = "",
}: Environment): Record<string, string> {
  const result: Record<string, string> = { LANG: "C.UTF-8", TERM: "dumb", PYTHONUNBUFFERED: "1" };
  if (home !== undefined) result["HOME"] = home;
  for (const key of [...INHERITED, ...allowedEnvKeys]) {
    const value = Object.hasOwn(env, key) ? env[key] : undefined;
    if (value !== undefined && value !== "" && !NEVER.has(key)) result[key] = value;
  }
  // Last, so that an allowed PATH does not undo what was put around it.
  result["PATH"] = [pathPrepend, env["PATH"] || DEFAULT_PATH, pathAppend]
    .filter((part) => part !== "")
    .join(":");
  return result;
}

export function createToolShell({
  processes,
  defaultTimeoutSeconds,
  os,
  ...environment
}: ToolShellOptions): ToolShell {
  const env = shortEnvironment(environment);

  return {
    defaultTimeoutSeconds,

    async run(command, { cwd, timeoutSeconds, signal }) {
      if (os === "win32") throw new UserError("Cannot run a command: exec is off on Windows");
      const spec = {
        args: ["-c", command],
        cwd,
        env,
        timeoutMs: timeoutSeconds * 1000,
        keepBytes: KEEP_BYTES,
      };
      try {
        return await processes.run({ ...spec, file: BASH }, signal);
      } catch (error) {
        // Small systems have no bash. If it is the folder that is missing, this says so again.
        if (errorCode(error) === "ENOENT") return processes.run({ ...spec, file: SH }, signal);
        throw error;
      }
    },
  };
}

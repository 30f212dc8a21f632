/** The environment of commands: short, so that no secret of this process reaches them. */

import type { Environment } from "../core/platform.ts";
import { TOOL_MARK } from "../lib/tool-mark.ts";

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const INHERITED = ["LANG", "TMPDIR", "TZ", "USER"] as const;
/** Each makes a program load code before its own; the first two turn our own binary into another program. */
const NEVER: ReadonlySet<string> = new Set(["BUN_OPTIONS", "BUN_BE_BUN", "LD_PRELOAD"]);

const FIXED = {
  LANG: "C.UTF-8",
  TERM: "dumb",
  PYTHONUNBUFFERED: "1",
  // The outermost bash takes an input that is a socket, as those of sessions are, for a remote login, and
  // would read ~/.bashrc with all the keys that are exported there.
  SHLVL: "1",
} as const;

export interface ShellEnvironment {
  /** The environment of this process, of which commands get what is named here and nothing else. */
  readonly env: Environment;
  readonly home: string | undefined;
  readonly allowedEnvKeys?: readonly string[];
  /** Folders to search before and after those of PATH, joined by `:`. */
  readonly pathPrepend?: string;
  readonly pathAppend?: string;
}

export function shortEnvironment({
  env,
  home,
  allowedEnvKeys = [],
  pathPrepend = "",
  pathAppend = "",
}: ShellEnvironment): Record<string, string> {
  const result: Record<string, string> = { ...FIXED };
  if (home !== undefined) result["HOME"] = home;
  for (const key of [...INHERITED, ...allowedEnvKeys]) {
    const value = Object.hasOwn(env, key) ? env[key] : undefined;
    if (value !== undefined && value !== "" && !NEVER.has(key)) result[key] = value;
  }
  result[TOOL_MARK] = "1";
  // Last, so that an allowed PATH does not undo what was put around it.
  result["PATH"] = [pathPrepend, env["PATH"] || DEFAULT_PATH, pathAppend]
    .filter((part) => part !== "")
    .join(":");
  return result;
}

/** Runs a script of a skill as `exec` would: by sh, in a folder that is not the skill's, with a short environment. */

import { join } from "node:path";
import { root } from "./skill-files.ts";

export interface ScriptEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What scripts see of the environment. */
export const environment: Readonly<Record<string, string>> = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  LANG: "C.UTF-8",
  TERM: "dumb",
};

/** `script` is below `skills/`. */
export function runScript(
  script: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): ScriptEnd {
  const ended = Bun.spawnSync([join(root, script), ...args], {
    cwd,
    env: { ...environment, HOME: cwd, ...env },
    stdin: "ignore",
  });
  return { code: ended.exitCode, stdout: ended.stdout.toString(), stderr: ended.stderr.toString() };
}

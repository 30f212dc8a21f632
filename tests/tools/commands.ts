/** The ports of the tools for commands, with real programs unless a test brings its own. */

import { existsSync, readFileSync } from "node:fs";
import type { Processes } from "../../src/core/platform.ts";
import type { ToolPorts, ToolShell } from "../../src/core/tool.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createProcesses } from "../../src/platform/processes.ts";
import { createCommandSpec } from "../../src/shell/command-spec.ts";
import { createExecSessions } from "../../src/shell/exec-sessions.ts";
import { createToolShell } from "../../src/shell/tool-shell.ts";
import { makeFolder, system } from "./fixture.ts";

export interface CommandOptions {
  readonly processes?: Processes;
  readonly permit?: ToolShell["permit"];
  readonly home?: string;
}

export function commandPorts({
  processes = createProcesses(systemClock),
  permit = async () => ({ decision: "allow" }),
  home = makeFolder(),
}: CommandOptions = {}): Pick<ToolPorts, "shell" | "execSessions"> & { processes: Processes } {
  const env = { PATH: process.env["PATH"] };
  const spec = createCommandSpec({ files: system, os: "linux", env, home });
  let count = 0;
  return {
    processes,
    shell: createToolShell({ processes, spec, permit, owner: "cli:direct", defaultTimeoutSeconds: 60 }),
    execSessions: createExecSessions({
      processes,
      clock: systemClock,
      ids: { next: () => `s${++count}` },
      spec: (start) => spec(start.command, start),
    }),
  };
}

/** A zombie that waits to be reaped runs no more. */
export function isRunning(pid: number): boolean {
  const status = `/proc/${pid}/stat`;
  if (existsSync(status)) return !readFileSync(status, "utf8").includes(") Z ");
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // There is no such process.
  }
}

/** The shell behind the tools of one session: what may run there, and running it. */

import type { Processes } from "../core/platform.ts";
import type { ToolShell } from "../core/tool.ts";
import type { CommandSpec } from "./command-spec.ts";
import { createInputGuard } from "./input-guard.ts";
import { refuseFailedSandbox } from "./sandbox/failure.ts";

export interface ToolShellOptions {
  readonly processes: Pick<Processes, "run">;
  readonly spec: CommandSpec;
  readonly permit: ToolShell["permit"];
  /** The session that commands run for. */
  readonly owner: string;
  /** 0 means no limit. */
  readonly defaultTimeoutSeconds: number;
}

export function createToolShell({
  processes,
  spec,
  permit,
  owner,
  defaultTimeoutSeconds,
}: ToolShellOptions): ToolShell {
  return {
    defaultTimeoutSeconds,
    permit,
    permitInput: createInputGuard(permit),

    async run(command, { signal, ...place }) {
      const program = await spec(command, { ...place, owner });
      const result = await processes.run(program, signal);
      refuseFailedSandbox(program.file, result);
      return result;
    },
  };
}

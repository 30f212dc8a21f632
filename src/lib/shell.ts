/** The shell behind the tools of one session: what may run there, and running it. */

import { UserError } from "../core/errors.ts";
import type { Processes, ProcessResult } from "../core/platform.ts";
import type { ToolShell } from "../core/tool.ts";
import type { CommandSpec } from "./command-spec.ts";

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

    async run(command, { signal, ...place }) {
      const program = await spec(command, { ...place, owner });
      const result = await processes.run(program, signal);
      const problem = sandboxFailure(program.file, result);
      if (problem === undefined) return result;
      throw new UserError(`The command did not run, because its sandbox could not be made: ${problem}`, {
        hint: "This is not the command's fault. The owner can see more with nanobot status",
      });
    },
  };
}

/** Bubblewrap itself fails before anything else is said, and with a line of its own. */
function sandboxFailure(file: string, { exitCode, stdout, stderr }: ProcessResult): string | undefined {
  if (!file.endsWith("/bwrap") || exitCode !== 1 || stdout.head !== "") return undefined;
  return /^bwrap: (.*)/.exec(stderr.head)?.[1];
}

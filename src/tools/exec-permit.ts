/** Whether a call of exec may run, before anything of it happens. */

import type { Permit, ShellName, ToolContext } from "../core/tool.ts";
import { wellFormed } from "../lib/text.ts";

export const RUN_IN = "run the command in";

/** Linux takes one argument of 128 KiB; whatever is longer belongs in a script. */
const LONGEST_COMMAND_BYTES = 120_000;

export interface ExecCommand {
  readonly command: string;
  readonly working_dir?: string | undefined;
  readonly shell?: ShellName | undefined;
}

export async function permitExec(
  { command, working_dir = ".", shell: name }: ExecCommand,
  { signal, ports: { files, shell } }: ToolContext,
): Promise<Permit> {
  // First, because judging takes time that grows with the text.
  const problem = whyNotRunnable(command);
  if (problem !== undefined) return { decision: "deny", reason: `Cannot run the command: ${problem}` };
  const cwd = await files.resolve(working_dir, "read", RUN_IN);
  return shell.permit(wellFormed(command), { cwd, signal, shell: name });
}

function whyNotRunnable(command: string): string | undefined {
  if (command.trim() === "") return "it is blank";
  if (command.includes("\0")) return "it contains a NUL character";
  if (new TextEncoder().encode(command).length > LONGEST_COMMAND_BYTES) {
    return `it is longer than ${LONGEST_COMMAND_BYTES} bytes; write a script with write_file and run that`;
  }
  return undefined;
}

/** Whether a call of exec may run, before anything of it happens. */

import type { Permit, ShellChoice, ToolContext } from "../core/tool.ts";
import { wellFormed } from "../lib/text.ts";

export const RUN_IN = "run the command in";

/** Linux takes one argument of 128 KiB; whatever is longer belongs in a script. */
const LONGEST_COMMAND_BYTES = 120_000;

export interface ExecCommand extends ShellChoice {
  readonly command: string;
  readonly working_dir?: string | undefined;
}

export async function permitExec(
  { command, working_dir = ".", shell: name, login }: ExecCommand,
  { signal, ports: { files, shell } }: ToolContext,
): Promise<Permit> {
  // First, because judging takes time that grows with the text.
  const problem = whyNotRunnable(command);
  if (problem !== undefined) return { decision: "deny", reason: `Cannot run the command: ${problem}` };
  const cwd = await files.resolve(working_dir, "read", RUN_IN);
  const permit = await shell.permit(wellFormed(command), { cwd, signal, shell: name, login });
  if (permit.decision !== "ask") return permit;
  return { ...permit, what: unusualPlace(files.display(cwd), { shell: name, login }) + permit.what };
}

/** Who is asked sees more than the command where it does not run as usual: elsewhere it may do something else. */
function unusualPlace(folder: string, { shell = "bash", login = false }: ShellChoice): string {
  const place = [
    ...(folder === "." ? [] : [`in ${JSON.stringify(folder)}`]),
    ...(shell === "bash" ? [] : [`by ${shell}`]),
    ...(login ? ["after the profile files"] : []),
  ];
  return place.length === 0 ? "" : `Run ${place.join(", ")}:\n`;
}

function whyNotRunnable(command: string): string | undefined {
  if (command.trim() === "") return "it is blank";
  if (command.includes("\0")) return "it contains a NUL character";
  if (new TextEncoder().encode(command).length > LONGEST_COMMAND_BYTES) {
    return `it is longer than ${LONGEST_COMMAND_BYTES} bytes; write a script with write_file and run that`;
  }
  return undefined;
}

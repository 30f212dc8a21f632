/** The tool that runs a shell command. */

import * as v from "valibot";
import type { CapturedOutput, ProcessResult } from "../core/platform.ts";
import { defineTool, toolError, toolOk } from "../core/tool.ts";
import { explained, quote } from "../lib/file-error.ts";
import { stripControls, wellFormed } from "../lib/text.ts";

const RUN_IN = "run the command in";

/** Linux takes one argument of 128 KiB; whatever is longer belongs in a script. */
const LONGEST_COMMAND_BYTES = 120_000;

export const exec = defineTool({
  name: "exec",
  description:
    "Run a shell command and get its output and exit code. There is no terminal and nothing to type into it. " +
    "To read, write or list files prefer the tools made for that.",
  parameters: v.strictObject({
    command: v.pipe(v.string(), v.description("The command, as for bash -c")),
    working_dir: v.optional(
      v.pipe(v.string(), v.description("The folder to run it in (default: the workspace)")),
    ),
    timeout: v.optional(
      v.pipe(
        v.number(),
        v.integer(),
        v.minValue(1),
        v.maxValue(600),
        v.description("Seconds after which it is ended, 1 to 600"),
      ),
    ),
  }),

  async execute({ command, working_dir = ".", timeout }, { signal, ports: { files, shell } }) {
    const problem = whyNotRunnable(command);
    if (problem !== undefined) return toolError(`Cannot run the command: ${problem}`);

    const cwd = await files.resolve(working_dir, "read", RUN_IN);
    const folder = await explained(RUN_IN, working_dir, () => files.system.stat(cwd));
    if (folder?.kind !== "directory") {
      return toolError(`Cannot ${RUN_IN} ${quote(working_dir)}: there is no such folder`);
    }

    const timeoutSeconds = timeout ?? shell.defaultTimeoutSeconds;
    const result = await shell.run(wellFormed(command), { cwd, timeoutSeconds, signal });
    const report = describe(result);
    if (result.ended === undefined) return toolOk(report);
    return toolError(`The command was ${howEnded(result.ended, timeoutSeconds)}\n${report}`);
  },
});

function whyNotRunnable(command: string): string | undefined {
  if (command.trim() === "") return "it is blank";
  if (command.includes("\0")) return "it contains a NUL character";
  if (new TextEncoder().encode(command).length > LONGEST_COMMAND_BYTES) {
    return `it is longer than ${LONGEST_COMMAND_BYTES} bytes; write a script with write_file and run that`;
  }
  return undefined;
}

function howEnded(ended: NonNullable<ProcessResult["ended"]>, timeoutSeconds: number): string {
  if (ended === "timeout") return `ended after ${timeoutSeconds} s, before it finished`;
  return ended === "flood" ? "ended because it wrote too much" : "ended because the turn was stopped";
}

function describe(result: ProcessResult): string {
  const stdout = readable(result.stdout);
  const stderr = readable(result.stderr);
  const sections = [
    ...(stdout === "" ? [] : [stdout]),
    ...(stderr === "" ? [] : [`STDERR:\n${stderr}`]),
    ...(stdout === "" && stderr === "" ? ["(No output)"] : []),
    `Exit code: ${exitCode(result)}`,
  ];
  return sections.join("\n\n");
}

function exitCode({ ended, exitCode: code, signal }: ProcessResult): string {
  if (ended !== undefined) return "none";
  return code === null ? `none (ended by ${signal ?? "an unknown signal"})` : String(code);
}

/**
 * For a model, which has no terminal: sequences that move or colour and all control characters, NUL among
 * them, are dropped. A bare CR, with which progress bars write over their line, begins a new one.
 */
function readable({ head, tail, omittedBytes }: CapturedOutput): string {
  const whole = omittedBytes > 0 ? `${head}\n[… ${omittedBytes} bytes left out …]\n${tail}` : head + tail;
  return stripControls(whole.replace(/\r+\n/g, "\n").replaceAll("\r", "\n")).trimEnd();
}

/** The tool that runs a shell command. */

import * as v from "valibot";
import type { ExecSessionStart } from "../core/exec-sessions.ts";
import { defineTool, type ToolContext, type ToolResult, toolError } from "../core/tool.ts";
import { explained, quote } from "../lib/file-error.ts";
import { wellFormed } from "../lib/text.ts";
import { reportEnd, reportRunning } from "./command-report.ts";
import { permitExec, RUN_IN } from "./exec-permit.ts";
import { flag, maxOutputChars, text, whole } from "./parameters.ts";

export const exec = defineTool({
  name: "exec",
  section: "exec",
  description:
    "Run a shell command and get its output and exit code. There is no terminal. To read, write or list files " +
    "prefer the tools made for that. For what runs long or wants input, give yield_time_ms: if it has not ended " +
    "by then it goes on as a session, and write_stdin reads more of its output, writes to it, and ends it.",
  parameters: v.strictObject({
    command: v.pipe(v.string(), v.description("The command, as for bash -c")),
    working_dir: text("The folder to run it in (default: the workspace)"),
    timeout: whole("Seconds after which it is ended, 1 to 600", 1, 600),
    yield_time_ms: whole(
      "Wait this many milliseconds for its end, 0 to 30000; after that it goes on as a session",
      0,
      30_000,
    ),
    max_output_chars: maxOutputChars,
    shell: v.optional(
      v.pipe(v.picklist(["bash", "sh", "zsh"]), v.description("The shell that reads it (default bash)")),
    ),
    login: flag(
      "Whether the shell reads its profile files first (default false); refused where tools can write them",
    ),
  }),
  aliases: { cmd: "command", workdir: "working_dir" },
  permit: permitExec,

  async execute(args, context) {
    const { command, working_dir = ".", timeout, yield_time_ms: waitMs, max_output_chars: maxChars } = args;
    const { signal, ports } = context;
    const { files, shell } = ports;
    const cwd = await files.resolve(working_dir, "read", RUN_IN);
    const folder = await explained(RUN_IN, working_dir, () => files.system.stat(cwd));
    if (folder?.kind !== "directory") {
      return toolError(`Cannot ${RUN_IN} ${quote(working_dir)}: there is no such folder`);
    }

    const choice = { cwd, shell: args.shell, login: args.login };
    if (waitMs !== undefined) {
      // What is meant to go on has no limit unless it is given one: a session that nobody asks for is ended.
      const session = { ...choice, command: wellFormed(command), timeoutSeconds: timeout ?? 0 };
      return startSession(session, { waitMs, maxChars }, context);
    }
    const timeoutSeconds = timeout ?? shell.defaultTimeoutSeconds;
    const result = await shell.run(wellFormed(command), { ...choice, timeoutSeconds, signal });
    return reportEnd(result, result, { timeoutSeconds, maxChars });
  },
});

async function startSession(
  session: Omit<ExecSessionStart, "cwdShown" | "owner">,
  { waitMs, maxChars }: { waitMs: number; maxChars: number | undefined },
  { signal, sessionKey, ports: { files, execSessions } }: ToolContext,
): Promise<ToolResult> {
  const { id, report } = await execSessions.start(
    { ...session, cwdShown: files.display(session.cwd), owner: sessionKey },
    { waitMs, signal },
  );
  const { timeoutSeconds } = session;
  if (report.ended === undefined) return reportRunning(report, id, { maxChars });
  return reportEnd(report, report.ended, { timeoutSeconds, maxChars });
}

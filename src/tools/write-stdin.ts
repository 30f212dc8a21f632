/** The tool that goes on with a command: writes to it, waits for its output, ends it. */

import * as v from "valibot";
import { UserError } from "../core/errors.ts";
import type { ExecSessionReport, WaitOptions } from "../core/exec-sessions.ts";
import { defineTool, type ToolContext, type ToolResult, toolError } from "../core/tool.ts";
import { quote } from "../lib/file-error.ts";
import { clip, wellFormed } from "../lib/text.ts";
import { reportEnd, reportRunning } from "./command-report.ts";
import { flag, maxOutputChars, whole } from "./parameters.ts";
import { permitStdin } from "./stdin-permit.ts";

const YIELD_MS = 1_000;
const WAIT_MS = 10_000;
const MOST_CHARS = 65_536;
/** Of the text that was waited for, in the result, which may be cut in its middle. */
const LONGEST_QUOTE = 100;

const parameters = v.strictObject({
  session_id: v.pipe(v.string(), v.description("The id that exec gave")),
  chars: v.optional(
    v.pipe(v.string(), v.maxLength(MOST_CHARS), v.description("What to write, with its newline")),
  ),
  close_stdin: flag("Close the input, after chars (default false)"),
  terminate: flag("End the command and all that it started (default false)"),
  yield_time_ms: whole(`Wait this many milliseconds for output, 0 to 30000 (default ${YIELD_MS})`, 0, 30_000),
  wait_for: v.optional(
    v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(1_000),
      v.description("Wait until this text is in the output"),
    ),
  ),
  wait_timeout_ms: whole(
    `Wait at most this many milliseconds for wait_for, 0 to 120000 (default ${WAIT_MS})`,
    0,
    120_000,
  ),
  max_output_chars: maxOutputChars,
});

type Arguments = v.InferOutput<typeof parameters>;

export const writeStdin = defineTool({
  name: "write_stdin",
  section: "exec",
  description:
    "Go on with a command that exec made a session: write to its input, wait, and get what it said since you " +
    "last asked. Without chars it only waits. There is no terminal: end a line with \\n, and use terminate for Ctrl-C.",
  parameters,
  permit: permitStdin,

  async execute(args, context) {
    const { session_id: id, terminate = false } = args;
    const { sessionKey, ports } = context;
    const problem = await write(args, context);
    if (terminate) await ports.execSessions.end(id, sessionKey);
    const isDone = terminate || problem !== undefined;
    const report = await ports.execSessions.read(id, sessionKey, waiting(args, isDone, context));
    if (report === undefined) {
      return toolError(`There is no session ${quote(id)}; list_exec_sessions shows those that there are`);
    }
    const result = describe(report, args);
    return problem === undefined ? result : { ...result, ok: false, text: `${problem}\n${result.text}` };
  },
});

/** Why it could not be written, if it could not. The command's output is worth telling even then. */
async function write(
  { session_id: id, chars = "", close_stdin: close = false }: Arguments,
  { sessionKey, ports: { execSessions } }: ToolContext,
): Promise<string | undefined> {
  try {
    if (chars !== "" || close) await execSessions.write(id, sessionKey, { text: wellFormed(chars), close });
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}

function waiting(args: Arguments, isDone: boolean, { signal }: ToolContext): WaitOptions {
  const { yield_time_ms: yieldMs = YIELD_MS, wait_for: until, wait_timeout_ms: limitMs = WAIT_MS } = args;
  if (isDone) return { waitMs: 0, signal };
  return until === undefined ? { waitMs: yieldMs, signal } : { waitMs: limitMs, until, signal };
}

function describe(report: ExecSessionReport, args: Arguments): ToolResult {
  const { session_id: id, terminate = false, wait_for: until, max_output_chars: maxChars } = args;
  const { ended, seen } = report;
  if (ended !== undefined) return reportEnd(report, ended, { maxChars, isEndWanted: terminate });
  const result = reportRunning(report, id, { maxChars });
  if (until === undefined || seen) return result;
  return {
    ...result,
    text: `${result.text}\n${quote(clip(until, LONGEST_QUOTE))} was not in the output yet.`,
  };
}

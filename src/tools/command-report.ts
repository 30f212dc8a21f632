/** What a command said and how it ended, in words for the model. */

import type { ExecSessionReport } from "../core/exec-sessions.ts";
import type { CapturedOutput, ProcessOutput } from "../core/platform.ts";
import { type ToolResult, toolError, toolOk } from "../core/tool.ts";
import { headTail, stripControls } from "../lib/text.ts";

type Ended = NonNullable<ExecSessionReport["ended"]>;

export interface ReportOptions {
  /** Of the output. How the command ended is always told. */
  readonly maxChars?: number | undefined;
  /** As it was when the command ended at its limit. */
  readonly timeoutSeconds?: number;
  /** It was to be ended, so that its end is no failure. */
  readonly isEndWanted?: boolean;
}

export function reportEnd(
  output: ProcessOutput,
  { exitCode, signal, ended }: Ended,
  { maxChars, timeoutSeconds, isEndWanted = false }: ReportOptions,
): ToolResult {
  const said = describeOutput(output, maxChars);
  if (ended === undefined) {
    const code = exitCode === null ? `none (ended by ${signal ?? "an unknown signal"})` : exitCode;
    return toolOk(`${said}\n\nExit code: ${code}`, { exitCode });
  }
  const text = `The command was ${isEndWanted ? "ended as you asked" : howEnded(ended, timeoutSeconds)}\n${said}\n\nExit code: none`;
  return isEndWanted ? toolOk(text, { exitCode }) : toolError(text, { exitCode });
}

export function reportRunning(
  output: ProcessOutput,
  id: string,
  { maxChars }: Pick<ReportOptions, "maxChars">,
): ToolResult {
  const next = "write_stdin waits for more of its output, writes to it, or ends it";
  return toolOk(
    `${describeOutput(output, maxChars)}\n\nThe command goes on as the session "${id}"; ${next}.`,
  );
}

function howEnded(ended: NonNullable<Ended["ended"]>, timeoutSeconds: number | undefined): string {
  switch (ended) {
    case "timeout":
      return `ended ${timeoutSeconds === undefined ? "at its time limit" : `after ${timeoutSeconds} s`}, before it finished`;
    case "flood":
      return "ended because it wrote too much";
    case "idle":
      return "ended because nobody asked for it for half an hour";
    case "aborted":
      return "ended because the turn was stopped";
  }
}

function describeOutput({ stdout, stderr }: ProcessOutput, maxChars = Infinity): string {
  const [out, err] = [readable(stdout), readable(stderr)];
  const sections = [
    ...(out === "" ? [] : [out]),
    ...(err === "" ? [] : [`STDERR:\n${err}`]),
    ...(out === "" && err === "" ? ["(No output)"] : []),
  ];
  const said = headTail(sections.join("\n\n"), maxChars, (cut) => `\n[… ${cut} characters left out …]\n`);
  return NOT_OPENED.test(`${out}\n${err}`) ? `${said}\n\n${USE_NUMBERS}` : said;
}

/** The runtime makes a program's input and outputs sockets, which Linux does not open by name as it does pipes. */
const STREAM = String.raw`/(?:dev/(?:std(?:in|out|err)|fd/[0-2])|proc/self/fd/[0-2])\b`;
const ENXIO = "No such device or address";
const NOT_OPENED = new RegExp(`${STREAM}.{0,3}${ENXIO}|${ENXIO}.{0,3}${STREAM}`);
const USE_NUMBERS =
  "[Here /dev/stdout, /dev/stderr and their like cannot be opened: write >&1 or >&2 instead.]";

/**
 * For a model, which has no terminal: sequences that move or colour and all control characters, NUL among
 * them, are dropped. A bare CR, with which progress bars write over their line, begins a new one.
 */
function readable({ head, tail, omittedBytes }: CapturedOutput): string {
  const whole = omittedBytes > 0 ? `${head}\n[… ${omittedBytes} bytes left out …]\n${tail}` : head + tail;
  return stripControls(whole.replace(/\r+\n/g, "\n").replaceAll("\r", "\n")).trimEnd();
}

/** What a command said and how it ended, in words for the model. */

import { Buffer } from "node:buffer";
import type { ExecSessionReport } from "../core/exec-sessions.ts";
import type { CapturedOutput, ProcessOutput } from "../core/platform.ts";
import { type ToolResult, toolError, toolOk } from "../core/tool.ts";
import { stripControls } from "../lib/text.ts";

type Ended = NonNullable<ExecSessionReport["ended"]>;

export interface ReportOptions {
  /** Of all that is reported. The middle is left out, so that how the command ended is always told. */
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
  const said = describeOutput(output);
  const parts = { exitCode, ...(maxChars === undefined ? {} : { limit: maxChars }) };
  if (ended === undefined) {
    const code = exitCode === null ? `none (ended by ${signal ?? "an unknown signal"})` : exitCode;
    return toolOk(`${said}\n\nExit code: ${code}`, parts);
  }
  const text = `The command was ${isEndWanted ? "ended as you asked" : howEnded(ended, timeoutSeconds)}\n${said}\n\nExit code: none`;
  return isEndWanted ? toolOk(text, parts) : toolError(text, parts);
}

export function reportRunning(
  output: ProcessOutput,
  id: string,
  { maxChars }: Pick<ReportOptions, "maxChars">,
): ToolResult {
  const next = "write_stdin waits for more of its output, writes to it, or ends it";
  return toolOk(
    `${describeOutput(output)}\n\nThe command goes on as the session "${id}"; ${next}.`,
    maxChars === undefined ? {} : { limit: maxChars },
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

function describeOutput({ stdout, stderr }: ProcessOutput): string {
  const [out, err] = [readable(stdout), readable(stderr)];
  const sections = [
    ...(out === "" ? [] : [out]),
    ...(err === "" ? [] : [`STDERR:\n${err}`]),
    ...(out === "" && err === "" ? ["(No output)"] : []),
  ];
  const said = sections.join("\n\n");
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
function readable(output: CapturedOutput): string {
  const whole = output.omittedBytes > 0 ? aroundGap(output) : output.head + output.tail;
  return stripControls(whole.replace(/\r+\n/g, "\n").replaceAll("\r", "\n")).trimEnd();
}

/** Words that the gap cuts go with it, however long they are: half a secret would not be recognised as one. */
function aroundGap({ head, tail, omittedBytes }: CapturedOutput): string {
  const first = head.slice(0, lastSpace(head) + 1);
  const space = tail.search(/\s/);
  const last = space < 0 ? "" : tail.slice(space);
  const cut = [head.slice(first.length), tail.slice(0, tail.length - last.length)];
  const bytes = omittedBytes + Buffer.byteLength(cut.join(""));
  const parts = [first.trimEnd(), `[… ${bytes} bytes left out …]`, last.trimStart()];
  return parts.filter((part) => part !== "").join("\n");
}

function lastSpace(text: string): number {
  let at = text.length - 1;
  while (at >= 0 && !/\s/.test(text.charAt(at))) at--;
  return at;
}

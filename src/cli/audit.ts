/** `nanobot audit`: what the agent's tools were called with, what came of it, and whether the record is whole. */

import type { AuditDecision, AuditFilter, AuditProblem, AuditRecord, AuditVerdict } from "../core/audit.ts";
import { UserError } from "../core/errors.ts";
import { quote } from "../lib/file-error.ts";
import { parseJson } from "../lib/parse-json.ts";
import { safeJson } from "../lib/safe-json.ts";
import { oneLine, stripControls } from "../lib/text.ts";
import { type CommandContext, defineCommand, type ExitCode, textOption } from "./command.ts";
import { requireSince } from "./since.ts";

const DEFAULT_LIMIT = 50;
const LONGEST_ARGUMENTS = 100;
/** All that is kept of any other text of a record. */
const LONGEST_FIELD = 1_000;

const json = { type: "boolean", about: "print JSON" } as const;

function requireLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  if (!/^\d{1,9}$/.test(text)) {
    throw new UserError(`Cannot list ${quote(text)} calls`, {
      hint: "Say --limit 100, or --limit 0 for all",
    });
  }
  return Number(text) || Number.POSITIVE_INFINITY;
}

function filterFrom({ app, options }: CommandContext): AuditFilter {
  const { clock, timeZone } = app.platform;
  const session = textOption(options, "session");
  const tool = textOption(options, "tool");
  const since = textOption(options, "since");
  return {
    ...(session === undefined ? {} : { session }),
    ...(tool === undefined ? {} : { tool }),
    ...(since === undefined ? {} : { since: requireSince(since, clock.now(), timeZone) }),
  };
}

function time(record: AuditRecord): string {
  return `${record.time.slice(0, 19).replace("T", " ")}Z`;
}

function outcome({ ok, decision, exitCode }: AuditRecord): string {
  if (decision.kind === "refused" || decision.kind === "interrupted") return decision.kind;
  const failed = typeof exitCode === "number" ? `exit ${exitCode}` : "error";
  if (decision.kind === "approved") return ok ? "approved" : `approved, ${failed}`;
  return ok ? "ok" : failed;
}

function describeLine(record: AuditRecord): string {
  const { id, session, tool, arguments: text, durationMs } = record;
  const call = `${oneLine(tool, 60)} ${oneLine(text, LONGEST_ARGUMENTS)}`;
  return [
    time(record),
    oneLine(id, 60),
    outcome(record),
    `${Math.round(durationMs)} ms`,
    oneLine(session, 60),
    call,
  ].join("\t");
}

/** A row of its own, below the call that says so. */
function describeLost(record: AuditRecord): string {
  const { lost = 0 } = record;
  return [time(record), "-", "lost", "-", "-", `${counted(lost, "call")} before could not be recorded`].join(
    "\t",
  );
}

async function list(context: CommandContext): Promise<ExitCode> {
  const { app, options, signal } = context;
  const { terminal } = app.platform;
  const limit = requireLimit(textOption(options, "limit"));
  const filter = filterFrom(context);
  const asJson = options["json"] === true;
  let shown = 0;
  let hasMore = false;
  for await (const record of (await app.audit()).list(filter, signal)) {
    hasMore = shown >= limit;
    if (hasMore) break;
    if (asJson) terminal.out(`${shown === 0 ? "[" : ","}\n${safeJson(record)}`);
    else {
      terminal.out(`${describeLine(record)}\n`);
      if (record.lost !== undefined) terminal.out(`${describeLost(record)}\n`);
    }
    shown++;
  }
  if (asJson) terminal.out(shown === 0 ? "[]\n" : "\n]\n");
  else if (shown === 0) terminal.err("No calls of tools are recorded for that.\n");
  // A script that keeps stderr asked for errors, and this is advice.
  if (hasMore && terminal.stderrIsTty) terminal.err(`There are more: --limit 0 lists all of them.\n`);
  return 0;
}

function describeDecision(decision: AuditDecision): string {
  switch (decision.kind) {
    case "ran":
      return "ran";
    case "approved":
      return `ran, approved by ${decision.by}`;
    case "refused":
      return decision.by === undefined
        ? `refused: ${decision.why}`
        : `refused by ${decision.by}: ${decision.why}`;
    case "interrupted":
      return "interrupted: it had started, and nobody knows how far it came";
  }
}

function indented(text: string): string {
  const value = parseJson(text);
  // Models send what is no JSON too, and long arguments are cut.
  return value === undefined ? text : JSON.stringify(value, undefined, 2);
}

function describe(record: AuditRecord): string {
  const { exitCode, error, digest } = record;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["Id", record.id],
    ["Time", record.time],
    ["Call", record.call],
    ["Turn", record.turn],
    ["Session", record.session],
    ["Origin", record.origin],
    ["Sender", record.sender || undefined],
    ["Tool", record.tool],
    ["Decision", describeDecision(record.decision)],
    ["Ended", record.ok ? "ok" : "with an error"],
    ["Took", `${record.durationMs} ms`],
    ["Exit code", exitCode === null ? "none: a signal ended it" : exitCode?.toString()],
    ["Error", error],
    [
      "Lost",
      record.lost === undefined ? undefined : `${counted(record.lost, "call")} before could not be recorded`,
    ],
    ["External", record.external === true ? "the result holds text from outside" : undefined],
    ["Result", digest === undefined ? undefined : `SHA-256 ${digest}`],
    ["Hash", record.hash],
  ];
  const lines = rows.flatMap(([name, value]) =>
    // One line, since a tool's name is made by a model and could look like the lines below it.
    value === undefined ? [] : [`${`${name}:`.padEnd(11)}${oneLine(value, LONGEST_FIELD)}`],
  );
  lines.push("Arguments:", indented(record.arguments));
  return `${stripControls(lines.join("\n"))}\n`;
}

async function show({ app, positionals, options, signal }: CommandContext): Promise<ExitCode> {
  const [id = ""] = positionals;
  const record = await (await app.audit()).find(id, signal);
  if (record === undefined) {
    throw new UserError(`There is no call ${quote(id)} in the audit log`, {
      hint: 'Run "nanobot audit list" for those there are',
    });
  }
  app.platform.terminal.out(options["json"] === true ? `${safeJson(record, 2)}\n` : describe(record));
  return 0;
}

function counted(count: number, one: string): string {
  return `${new Intl.NumberFormat("en").format(count)} ${one}${count === 1 ? "" : "s"}`;
}

function describeProblem(problem: AuditProblem): string {
  const where = problem.kind === "truncated" ? problem.file : `${problem.file}:${problem.line}`;
  return oneLine(`✗ ${where} ${problem.kind}: ${problem.detail}`, 1_000);
}

function* describeVerdict(verdict: AuditVerdict): Generator<string> {
  const { ok, lines, unanchored, torn, problems, more = 0 } = verdict;
  yield* problems.map(describeProblem);
  if (ok && lines === 0) yield "The audit log is empty";
  else if (ok) yield `✓ The audit log is whole: ${counted(lines, "line")}`;
  else
    yield `The audit log is not whole: ${counted(problems.length + more, "problem")} in ${counted(lines, "line")}`;
  if (unanchored > 0)
    yield `  ${counted(unanchored, "line")} at the end came after the anchor was last moved: what is cut off there cannot be seen`;
  if (torn) yield "  A line was cut short by a crash, which is no damage";
}

async function verify({ app, options, signal }: CommandContext): Promise<ExitCode> {
  const { terminal } = app.platform;
  const verdict = await (await app.audit()).verify(signal);
  if (options["json"] === true) terminal.out(`${safeJson(verdict, 2)}\n`);
  else for (const line of describeVerdict(verdict)) terminal.out(`${line}\n`);
  return verdict.ok ? 0 : 1;
}

export const command = defineCommand({
  about: "Show what tools were called for, and check that the record is whole",
  subcommands: {
    list: {
      about: "List calls of tools, newest first",
      options: {
        session: { type: "string", value: "KEY", about: "only of this session" },
        tool: { type: "string", value: "NAME", about: "only of this tool" },
        since: { type: "string", value: "TIME", about: "from 24h, 7d or 2w ago, or from a day or moment on" },
        limit: { type: "string", value: "N", about: `at most so many (${DEFAULT_LIMIT}); 0 for all` },
        json,
      },
      run: list,
    },
    show: {
      about: "Print all that is recorded of a call, by its id or the call's",
      positionals: ["ID"],
      options: { json },
      run: show,
    },
    verify: {
      about:
        "Find lines that were changed, removed, cut off, lost or put elsewhere; exit code 1 when there are some",
      options: { json },
      run: verify,
    },
  },
});

/** Judges the files of sessions, stricter than the program reads them: it must have written all of this itself. */

import type { Violation } from "./check-answers.ts";
import { effectOf, findRequests } from "./marks.ts";

export interface SessionFile {
  readonly name: string;
  readonly text: string;
}

/** What a session says of a call that leaves its number behind. */
export type CallState = "finished" | "unknown" | "refused";

export interface SessionReport {
  readonly violations: readonly Violation[];
  /** By the number that the call leaves behind. */
  readonly calls: ReadonlyMap<number, CallState>;
  /** Messages that stand in a session. */
  readonly requests: ReadonlySet<number>;
  readonly lines: number;
}

interface Line {
  readonly _type?: string;
  readonly role?: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { id: string; function: { arguments: string } }[];
  readonly tool_call_id?: string;
  readonly inbound?: string;
}

export function checkSessions(files: readonly SessionFile[]): SessionReport {
  const violations: Violation[] = [];
  const calls = new Map<number, CallState>();
  const requests = new Set<number>();
  const inbound = new Set<string>();
  let count = 0;
  for (const { name, text } of files) {
    const report = (what: string) => violations.push({ kind: "session", what: `${what} in ${name}` });
    const lines = parseLines(text, report);
    count += lines.length;
    for (const [number, state] of checkCalls(lines, report)) calls.set(number, state);
    for (const line of lines) {
      if (line.role !== "user") continue;
      if (line.inbound !== undefined && inbound.has(line.inbound)) report(`${line.inbound} stands twice`);
      if (line.inbound !== undefined) inbound.add(line.inbound);
      for (const { number } of findRequests(String(line.content))) {
        if (requests.has(number)) report(`message ${number} stands twice`);
        requests.add(number);
      }
    }
  }
  return { violations, calls, requests, lines: count };
}

function parseLines(text: string, report: (what: string) => void): readonly Line[] {
  if (text !== "" && !text.endsWith("\n")) report("the last line has no end");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line): Line[] => {
      try {
        return [JSON.parse(line) as Line];
      } catch {
        report(`a damaged line, ${JSON.stringify(line.slice(0, 80))}`);
        return [];
      }
    });
}

/** Every call has exactly one result, behind it. */
function checkCalls(lines: readonly Line[], report: (what: string) => void): ReadonlyMap<number, CallState> {
  const open = new Map<string, number | undefined>();
  const known = new Set<string>();
  const states = new Map<number, CallState>();
  for (const line of lines) {
    for (const call of line.tool_calls ?? []) {
      if (known.has(call.id)) report(`call ${call.id} stands twice`);
      known.add(call.id);
      open.set(call.id, effectOfCall(call.function.arguments));
    }
    if (line.role !== "tool") continue;
    const id = line.tool_call_id ?? "";
    if (!open.has(id))
      report(known.has(id) ? `call ${id} has two results` : `a result without its call, ${id}`);
    const effect = open.get(id);
    if (effect !== undefined) states.set(effect, stateOf(String(line.content)));
    open.delete(id);
  }
  for (const id of open.keys()) report(`call ${id} has no result`);
  return states;
}

function effectOfCall(json: string): number | undefined {
  const { command } = JSON.parse(json) as { command?: unknown };
  return typeof command === "string" ? effectOf(command) : undefined;
}

function stateOf(result: string): CallState {
  if (/^Exit code: 0$/m.test(result)) return "finished";
  return /outcome unknown/.test(result) ? "unknown" : "refused";
}

/** `effects` are the numbers that calls left behind, one for each time that a call ran. */
export function checkEffects(
  calls: ReadonlyMap<number, CallState>,
  effects: readonly number[],
): readonly Violation[] {
  const times = new Map<number, number>();
  for (const number of effects) times.set(number, (times.get(number) ?? 0) + 1);
  const twice = [...times].flatMap(([number, count]): Violation[] =>
    count === 1 ? [] : [{ kind: "run twice", what: `call ${number} ran ${count} times` }],
  );
  const unrecorded = [...times.keys()].flatMap((number): Violation[] =>
    calls.has(number) ? [] : [{ kind: "session", what: `call ${number} ran and stands in no session` }],
  );
  const wrong = [...calls].flatMap(([number, state]): Violation[] => {
    const ran = times.has(number);
    if (state === "finished" && !ran)
      return [{ kind: "session", what: `call ${number} is recorded as finished and left nothing behind` }];
    if (state === "refused" && ran)
      return [{ kind: "session", what: `call ${number} is recorded as not run and left something behind` }];
    return [];
  });
  return [...twice, ...unrecorded, ...wrong];
}

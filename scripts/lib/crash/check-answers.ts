/** Judges what people saw: all of it, once, in order, and in the chat that asked. */

import type { Kill, Ledger, Said, Shown, Tick } from "./ledger.ts";
import { forwardMark, isFragment, marksOf, type Request, readMark } from "./marks.ts";

type ViolationKind =
  | "lost"
  | "not accepted"
  | "doubled"
  | "out of order"
  | "wrong chat"
  | "session"
  | "run twice"
  | "process";

export interface Violation {
  readonly kind: ViolationKind;
  /** What, and where. */
  readonly what: string;
}

export interface AnswerReport {
  readonly violations: readonly Violation[];
  readonly answered: number;
  /** Cancelled by a `/stop` before they were answered. */
  readonly stopped: number;
  /** Parts that were shown once more, each because of a kill between the sending and its record. */
  readonly doubledByKills: number;
}

type Evidence = Pick<Ledger, "said" | "shown" | "kills" | "forwarded" | "excused">;

/** `isIdempotent` says of a chat that its platform drops what is sent again with the same key. */
export function checkAnswers(ledger: Evidence, isIdempotent: (chat: string) => boolean): AnswerReport {
  const saidIn = Map.groupBy(ledger.said, ({ chat }) => chat);
  const shownIn = Map.groupBy(ledger.shown, ({ chat }) => chat);
  const violations: Violation[] = [];
  let answered = 0;
  let stopped = 0;
  let doubledByKills = 0;
  for (const [chat, said] of saidIn) {
    const shown = shownIn.get(chat) ?? [];
    const cancelled = findStopped(said, shown);
    const complete = findAnswered(said, shown);
    answered += complete.size;
    stopped += cancelled.difference(complete).size;
    const done = complete.union(cancelled).union(ledger.excused);
    violations.push(...findLost(chat, said, shown, done));
    violations.push(...findDisorder(chat, shown, cancelled));
    const doubled = findDoubled(chat, shown, isIdempotent(chat) ? [] : ledger.kills, cancelled);
    doubledByKills += doubled.byKills;
    violations.push(...doubled.violations);
  }
  violations.push(...findStrays(ledger), ...findForwards(ledger, shownIn));
  return { violations, answered, stopped, doubledByKills };
}

/** When each mark of the chat was first shown. */
function firstShown(shown: readonly Shown[]): ReadonlyMap<string, Tick> {
  const first = new Map<string, Tick>();
  for (const { marks, at } of shown) for (const mark of marks) if (!first.has(mark)) first.set(mark, at);
  return first;
}

function findAnswered(said: readonly Said[], shown: readonly Shown[]): ReadonlySet<number> {
  const first = firstShown(shown);
  const complete = said.flatMap(({ request }) =>
    request !== undefined && marksOf(request).every((mark) => first.has(mark)) ? [request.number] : [],
  );
  return new Set(complete);
}

/**
 * The messages that were not fully answered when somebody said `/stop` after them, and those that were being answered
 * together with one of these. One before an answered one is not among them: it should have been answered first.
 */
function findStopped(said: readonly Said[], shown: readonly Shown[]): ReadonlySet<number> {
  const first = firstShown(shown);
  const answeredAt = (marks: readonly string[]) =>
    Math.max(...marks.map((mark) => first.get(mark) ?? Number.POSITIVE_INFINITY));
  const stopped = new Set<number>();
  let before: Request[] = [];
  for (const { request, at } of said) {
    if (request !== undefined) {
      before.push(request);
      continue;
    }
    const lastAnswered = before.findLastIndex((message) => answeredAt(marksOf(message)) < at);
    for (const { number } of before.slice(lastAnswered + 1)) stopped.add(number);
    before = [];
  }
  for (const { marks } of shown) {
    const together = marks.map(readMark).filter(({ kind }) => kind === "answer");
    if (together.some(({ number }) => stopped.has(number)))
      for (const { number } of together) stopped.add(number);
  }
  return stopped;
}

function findLost(
  chat: string,
  said: readonly Said[],
  shown: readonly Shown[],
  done: ReadonlySet<number>,
): readonly Violation[] {
  const stops = said.filter(({ request }) => request === undefined);
  const stopReplies = shown.filter(({ isStop }) => isStop).length;
  const violations: Violation[] = [];
  for (const { request, acceptedAt } of said) {
    const name = request === undefined ? "/stop" : `message ${request.number} (${request.task})`;
    if (acceptedAt === undefined) violations.push({ kind: "not accepted", what: `${name} in ${chat}` });
    else if (request !== undefined && !done.has(request.number))
      violations.push({ kind: "lost", what: `${name} in ${chat}: ${missingOf(request, shown)}` });
  }
  if (stopReplies < stops.length) {
    const what = `${stops.length - stopReplies} of ${stops.length} replies to /stop in ${chat}`;
    violations.push({ kind: "lost", what });
  }
  return violations;
}

function missingOf(request: Request, shown: readonly Shown[]): string {
  const first = firstShown(shown);
  const missing = marksOf(request).filter((mark) => !first.has(mark));
  const more = missing.length > 5 ? ` and ${missing.length - 5} more` : "";
  return `${missing.slice(0, 5).join(", ")}${more} was not shown`;
}

function findDisorder(
  chat: string,
  shown: readonly Shown[],
  cancelled: ReadonlySet<number>,
): readonly Violation[] {
  const seen = new Set<string>();
  const violations: Violation[] = [];
  let last = { number: 0, line: 0 };
  for (const mark of shown.flatMap(({ marks }) => marks)) {
    const now = readMark(mark);
    if (seen.has(mark) || now.kind === "forward" || cancelled.has(now.number)) continue;
    seen.add(mark);
    const isBehind = now.number > last.number || (now.number === last.number && now.line > last.line);
    if (!isBehind)
      violations.push({
        kind: "out of order",
        what: `${mark} came after a${last.number}${last.line > 0 ? `/${last.line}` : ""} in ${chat}`,
      });
    last = now;
  }
  return violations;
}

/** How soon what was sent is recorded, at the very latest. */
const RECORDED_MS = 2_000;

/** A kill excuses one part of a chat: the one that was sent right before it. */
function findDoubled(
  chat: string,
  shown: readonly Shown[],
  kills: readonly Kill[],
  cancelled: ReadonlySet<number>,
): { byKills: number; violations: readonly Violation[] } {
  const lastShown = new Map<string, Shown>();
  const used = new Set<Kill>();
  const violations: Violation[] = [];
  for (const message of shown) {
    const judged = message.marks.filter((mark) => !cancelled.has(readMark(mark).number));
    const repeated = judged.filter((mark) => lastShown.has(mark));
    const earlier = repeated.flatMap((mark) => lastShown.get(mark) ?? []).toSorted((a, b) => b.at - a.at)[0];
    for (const mark of judged) lastShown.set(mark, message);
    if (earlier === undefined) continue;
    const kill = kills.find(
      (one) =>
        !used.has(one) && one.at > earlier.at && one.at < message.at && one.ms - earlier.ms < RECORDED_MS,
    );
    if (kill === undefined)
      violations.push({ kind: "doubled", what: `${repeated.slice(0, 5).join(", ")} in ${chat}` });
    else used.add(kill);
  }
  for (const [index, { at, ms, text }] of shown.entries()) {
    if (!isFragment(text) || isStoppedBehind(shown.slice(index + 1))) continue;
    const kill = kills.find((one) => !used.has(one) && one.at > at && one.ms - ms < RECORDED_MS);
    if (kill === undefined)
      violations.push({ kind: "doubled", what: `${JSON.stringify(text)}, and no more, in ${chat}` });
    else used.add(kill);
  }
  return { byKills: used.size, violations };
}

/** Whether the reply to a `/stop` comes before the next answer. */
function isStoppedBehind(following: readonly Shown[]): boolean {
  return following.find(({ isStop, marks }) => isStop || marks.length > 0)?.isStop === true;
}

/** Answers in chats that did not ask. */
function findStrays({ said, shown }: Evidence): readonly Violation[] {
  const chatOf = new Map(said.map(({ request, chat }) => [request?.number, chat]));
  return shown.flatMap(({ marks, chat }) =>
    marks.flatMap((mark): Violation[] => {
      const { kind, number } = readMark(mark);
      const home = chatOf.get(number);
      if (home === undefined) return [{ kind: "wrong chat", what: `${mark} in ${chat}, and nobody asked` }];
      if (kind === "forward" || home === chat) return [];
      return [{ kind: "wrong chat", what: `${mark} in ${chat} is for ${home}` }];
    }),
  );
}

function findForwards(
  { forwarded }: Evidence,
  shownIn: ReadonlyMap<string, readonly Shown[]>,
): readonly Violation[] {
  const shown = new Set([...shownIn.values()].flat().flatMap(({ marks }) => marks));
  return [...forwarded].flatMap((number): Violation[] => {
    const mark = forwardMark(number);
    return shown.has(mark) ? [] : [{ kind: "lost", what: `${mark}, for another chat, was not shown` }];
  });
}

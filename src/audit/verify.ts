/** Walks along the chain and tells what was changed, is missing or stands elsewhere, in memory that does not grow. */

import type { AuditProblem, AuditVerdict } from "../core/audit.ts";
import { BEGINNING, linkHash, type SealedLine } from "./chain.ts";
import { createDamage, type Damage } from "./damage.ts";
import type { AuditHead } from "./head.ts";
import { createOrder } from "./order.ts";
import { inPairs, type Place, type ReadLine, type WrittenLine } from "./written-lines.ts";

const MOST_PROBLEMS = 1_000;
/** Of a line in a row of changed ones. */
const MOST_HASHES = 4;

const MISFIT = "its hash does not fit its text and the line before it";

export interface VerifyOptions {
  readonly head: AuditHead | "missing" | "damaged";
  /** For people: the file that lines are added to, and that of the head. */
  readonly names: { readonly log: string; readonly head: string };
}

/** How far the log has been found in order. */
interface Position {
  readonly number: number;
  /** What the hash of that line may be: several when its text or its hash was changed, none when nobody knows. */
  readonly hashes: readonly string[];
}

type LineProblem = Exclude<AuditProblem, { readonly kind: "truncated" }>;

interface Step {
  readonly at: Place;
  readonly line: SealedLine;
  /** `damaged` is one that cannot be read. */
  readonly next: SealedLine | "damaged" | "none";
}

/** `lines` are all that the files hold, oldest first. */
export async function verifyChain(
  lines: AsyncIterable<WrittenLine>,
  options: VerifyOptions,
): Promise<AuditVerdict> {
  const walk = createWalk(options);
  for await (const { current, next } of inPairs(lines)) walk.step(current, next);
  return walk.end();
}

function createWalk({ head: found, names }: VerifyOptions) {
  const head = typeof found === "string" ? undefined : found;
  const anchored = head?.count ?? 0;
  const order = createOrder();
  const unread = createDamage();
  const problems: AuditProblem[] = [];
  let more = 0;
  let position: Position | undefined;
  /** The line that strayed, as long as no other came behind it. */
  let strayed: SealedLine | undefined;
  let first: Place | undefined;
  let last: ReadLine | undefined;
  let lines = 0;
  let hasTorn = false;
  /** A line says that the anchor was lost. */
  let hasLoss = false;

  function report(problem: AuditProblem): void {
    if (problems.length < MOST_PROBLEMS) problems.push(problem);
    else more++;
  }

  function reportAt({ file, line }: Place, kind: LineProblem["kind"], detail: string): void {
    report({ kind, file, line, detail });
  }

  function reportDamaged(places: readonly Place[], count: number): void {
    for (const at of places) reportAt(at, "unreadable", "it is no line of the log");
    more += count - places.length;
    lines += count;
  }

  function step(current: ReadLine, next: ReadLine | undefined): void {
    last = current;
    const { sealed } = current;
    if (!current.isTerminated && next !== undefined && next.sealed?.torn === undefined)
      reportAt(current, "changed", "the newline behind it is gone");
    if (sealed === undefined) unread.add(current);
    else goOn({ at: current, line: sealed, next: next === undefined ? "none" : (next.sealed ?? "damaged") });
  }

  function goOn(step: Step): void {
    const { at, line } = step;
    first ??= at;
    lines++;
    const damage = unread.clear();
    const holes = judge(damage, line, at);
    if (line.anchor !== undefined) {
      hasLoss = true;
      const detail = `audit.head was ${line.anchor} when this was written, so that lines before it may be gone`;
      reportAt(at, "missing", detail);
    }
    if (line.lost !== undefined) {
      const calls = line.lost === 1 ? "a call" : `${line.lost} calls`;
      reportAt(at, "lost", `before this was written, ${calls} could not be recorded`);
    }
    place(step, damage, holes);
    checkHead();
  }

  /** How many lines of the log the damage before `line` may have been. */
  function judge({ count, places, digest }: Damage, line: SealedLine, at: Place): number {
    if (line.torn === digest) {
      // Whoever wrote the line found just this, left by a crash.
      hasTorn = true;
      return 0;
    }
    if (line.torn !== undefined && count === 0)
      reportAt(at, "missing", "what a crash had left before it is gone");
    reportDamaged(places, count);
    return count;
  }

  function place(step: Step, damage: Damage, holes: number): void {
    const { at, line } = step;
    const before = position ?? beginning(step, holes);
    const hashes = holes > 0 ? damage.hashes(before.hashes) : before.hashes;
    const due = before.number + holes + 1;
    if (line.number === due) accept(line, at, hashes);
    // Some of the damage was put between the lines and is none of them.
    else if (line.number === before.number + 1) accept(line, at, before.hashes);
    else if (line.number > before.number && line.number < due) accept(line, at, []);
    else misplace(step, due, hashes);
  }

  /** What comes before the first line. */
  function beginning({ line, next }: Step, holes: number): Position {
    const start = head?.start;
    const first = line.number - holes;
    const second = typeof next === "string" ? undefined : next.number;
    // A file that the head does not count any more is there as long as the next rotation has not removed it.
    if (start && (first > start.count || second === start.count + holes + 2))
      return { number: start.count, hashes: [start.hash] };
    return { number: first - 1, hashes: first === 1 ? [BEGINNING.hash] : [] };
  }

  function accept(line: SealedLine, at: Place, hashes: readonly string[]): void {
    strayed = undefined;
    const own = hashes.map((hash) => linkHash(hash, line.text));
    const fits = own.length === 0 || own.includes(line.hash);
    if (!fits) reportAt(at, "changed", MISFIT);
    position = {
      number: line.number,
      hashes: fits ? [line.hash] : [line.hash, ...own].slice(0, MOST_HASHES),
    };
  }

  /** Of a line with another number than the one that is due. */
  function misplace({ at, line, next }: Step, due: number, hashes: readonly string[]): void {
    const own = [line.hash, ...hashes.map((hash) => linkHash(hash, line.text))];
    const stands = standsInPlace(line, next, due, own);
    if (stands === "changed") {
      strayed = undefined;
      reportAt(at, "changed", MISFIT);
      position = { number: due, hashes: own };
    } else if (stands === "another") {
      order.vacate({ from: due, to: due }, at);
      position = { number: due, hashes: [] };
      stray(line, at);
    } else if (line.number < due || (typeof next !== "string" && next.number === due)) {
      position = { number: due - 1, hashes };
      stray(line, at);
    } else {
      strayed = undefined;
      order.vacate({ from: due, to: line.number - 1 }, at);
      position = { number: line.number, hashes: [line.hash] };
    }
  }

  /** Whether it is the line that is due with its number changed, or another one in the place of that one, or neither. */
  function standsInPlace(line: SealedLine, next: Step["next"], due: number, own: readonly string[]) {
    if (next === "damaged") return "neither";
    if (next === "none") {
      if (due !== anchored) return "neither";
      return order.isVacant(line.number) ? "another" : "changed";
    }
    if (next.number !== due + 1) return "neither";
    return own.some((hash) => linkHash(hash, next.text) === next.hash) ? "changed" : "another";
  }

  function stray(line: SealedLine, at: Place): void {
    const follows = strayed !== undefined && line.number === strayed.number + 1;
    if (follows && linkHash(strayed?.hash ?? "", line.text) !== line.hash) reportAt(at, "changed", MISFIT);
    order.stray(line.number, at, follows);
    strayed = line;
  }

  function checkHead(): void {
    if (head === undefined || position === undefined) return;
    const { number, hashes } = position;
    for (const mark of [head, head.start]) {
      if (mark === null || mark.count !== number || hashes.length === 0 || hashes.includes(mark.hash))
        continue;
      const detail = `it does not hold the hash of number ${number} of the log, so that one of the two was changed`;
      reportAt({ file: names.head, line: 1 }, "changed", detail);
    }
  }

  function end(): AuditVerdict {
    const reached = endOf(unread.clear(), position?.number ?? head?.start?.count ?? 0);
    const rest = order.finish({ from: reached + 1, to: anchored });
    for (const problem of rest.problems) report(problem);
    more += rest.more;
    if (rest.cutOff.length > 0) {
      const detail = `it ends at number ${reached}, and audit.head says that there were ${anchored}`;
      report({ kind: "truncated", file: names.log, detail });
    }
    if (head?.start === null && first !== undefined && !hasLoss) {
      const detail = "audit.head knows no beginning, and the line that says why is gone, with all before it";
      reportAt(first, "missing", detail);
    }
    if (found === "damaged")
      reportAt({ file: names.head, line: 1 }, "unreadable", "it is no anchor of the end");
    if (found === "missing" && last !== undefined)
      reportAt({ file: names.head, line: 1 }, "missing", "without it nobody knows where the log ended");
    const unanchored = head === undefined ? lines : Math.max(0, reached - anchored);
    const ok = problems.length === 0 && more === 0;
    return { ok, lines, unanchored, torn: hasTorn, problems, ...(more === 0 ? {} : { more }) };
  }

  /** Which number the log ends at, when `damage` is behind the last line. */
  function endOf({ count, places }: Damage, number: number): number {
    if (last === undefined || (last.isTerminated && count === 0)) return number;
    const isBehindAnchor = number >= anchored;
    if (last.sealed !== undefined) {
      if (last.sealed.number > anchored) hasTorn = true;
      // Where more is gone than the newline, that is told.
      else if (number === anchored)
        report({ kind: "truncated", file: names.log, detail: "the newline of its last line is gone" });
      return number;
    }
    if (!last.isTerminated && isBehindAnchor) {
      hasTorn = true;
      return number;
    }
    // Of a line that was on disk and is cut, the truncation tells.
    const damaged = last.isTerminated ? count : count - 1;
    reportDamaged(places.slice(0, damaged), damaged);
    return number + damaged;
  }

  return { step, end };
}

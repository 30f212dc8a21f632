/**
 * Says whether a line contains a match, in time that grows with the line and never with the ways to match
 * it: the runtime's own expressions backtrack, and one of a careless or hostile model would hold the whole
 * program. States are made when text first leads to them.
 */

import { UserError } from "../../core/errors.ts";
import { assemble, type Program } from "./assemble.ts";
import type { Assertion, Node } from "./parse.ts";
import { WORD_SET } from "./sets.ts";

/** Together they bound the memory; beyond it what was learned is forgotten. */
const MOST_STATES = 2_000;
const MOST_KERNEL = 200_000;
/** Kinds of character that the sets of a pattern tell apart. */
const MOST_KINDS = 60_000;
/** What was not met yet; always for surrogates, and for a carriage return, which may be a part of a line's end. */
const UNKNOWN = 0;
const NEWLINE = 1;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

type Before = "start" | "word" | "other";

/** Where the reading of a line stands. */
interface LineState {
  /** Instructions that wait for what comes, sorted. */
  readonly kernel: readonly number[];
  readonly before: Before;
  readonly next: (LineState | undefined)[];
  matchesAtEnd: boolean | undefined;
}

interface Advance {
  /** A match was seen. Nothing more needs to be read of the line. */
  readonly isMatch: boolean;
  /** How far it was read: short of what was asked when the work became too much for one go. */
  readonly at: number;
  readonly state: LineState;
  /** What it took: about one for a character that leads where others led before. */
  readonly units: number;
}

export interface LineMatcher {
  /** Of an empty line. */
  readonly start: LineState;
  /**
   * Reads `text` from `from` to `to`, which are between whole characters, up to the first match. It may hold
   * several lines; `at` of a match is in its line or at the end of it. What matches at the end of `to` shows
   * when reading goes on, or at `finish`.
   */
  advance(state: LineState, text: string, from: number, to: number): Advance;
  /** Whether the line matches, now that nothing follows. */
  finish(state: LineState): boolean;
  /** All of it at once, for short texts. */
  matches(line: string): boolean;
}

/** Elementary steps of making states, after which `advance` returns, and how many units one is. */
const WORK_AT_ONCE = 100_000;
const UNITS_A_STEP = 5;

export function createLineMatcher(tree: Node): LineMatcher {
  const program = assemble(tree);
  const kinds = createKinds(program);
  const matched = makeState([], "start");
  let states = new Map<string, LineState>();
  let kernelSize = 0;

  function stateOf(kernel: readonly number[], before: Before): LineState {
    const key = `${before}${kernel.join()}`;
    const known = states.get(key);
    if (known !== undefined) return known;
    const state = makeState(kernel, before);
    // States that are still in use live on, and only forget what they were linked to.
    if (states.size >= MOST_STATES || kernelSize > MOST_KERNEL) {
      for (const old of states.values()) old.next.length = 0;
      states = new Map();
      kernelSize = 0;
    }
    states.set(key, state);
    kernelSize += kernel.length + 1;
    return state;
  }

  const marks = new Uint32Array(program.instructions.length);
  let mark = 0;

  /** The sets that can be read next, or `undefined` when the match is already there. */
  function reachable({ kernel, before }: LineState, after: "word" | "other" | "end"): number[] | undefined {
    mark++;
    const isBoundary = (before === "word") !== (after === "word");
    const found: number[] = [];
    const stack = [...kernel];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (marks[at] === mark) continue;
      marks[at] = mark;
      const instruction = program.instructions[at];
      if (instruction === undefined) continue;
      if (instruction.op === "match") return undefined;
      if (instruction.op === "set") found.push(at);
      else if (instruction.op === "split") stack.push(instruction.a, instruction.b);
      else if (holds(instruction.is, before, after, isBoundary)) stack.push(instruction.next);
    }
    return found;
  }

  function step(state: LineState, kind: number): LineState {
    if (kind === NEWLINE) return finish(state) ? matched : start;
    const after = kinds.isWord(kind) ? "word" : "other";
    const sets = reachable(state, after);
    if (sets === undefined) return matched;
    const kernel = new Set([program.entry]);
    for (const at of sets) {
      const instruction = program.instructions[at];
      if (instruction?.op === "set" && kinds.isIn(kind, instruction.set)) kernel.add(instruction.next);
    }
    return stateOf(
      [...kernel].sort((a, b) => a - b),
      after,
    );
  }

  function advance(from: LineState, text: string, begin: number, to: number): Advance {
    const { table } = kinds;
    let state = from;
    let work = 0;
    let at = begin;
    while (at < to) {
      const unit = text.charCodeAt(at);
      let kind = table[unit] ?? UNKNOWN;
      let next = state.next[kind];
      // Nearly always; nothing else may be in the way of it.
      if (next !== undefined && next !== matched) {
        state = next;
        at++;
        continue;
      }
      let width = 1;
      if (kind === UNKNOWN) {
        if (unit === CARRIAGE_RETURN && text.charCodeAt(at + 1) === LINE_FEED) {
          at++;
          continue;
        }
        const code = text.codePointAt(at) ?? unit;
        if (code > 0xffff) width = 2;
        kind = kinds.learn(code);
        next = state.next[kind];
        work += program.sets.length;
      }
      if (next === undefined) {
        next = step(state, kind);
        link(state, kind, next);
        work += program.instructions.length + 50;
      }
      if (next === matched) return { isMatch: true, at, state, units: at - begin + work * UNITS_A_STEP };
      state = next;
      at += width;
      if (work > WORK_AT_ONCE) break;
    }
    return { isMatch: false, at, state, units: at - begin + work * UNITS_A_STEP };
  }

  function finish(state: LineState): boolean {
    state.matchesAtEnd ??= reachable(state, "end") === undefined;
    return state.matchesAtEnd;
  }

  const start = makeState([program.entry], "start");
  return {
    start,
    advance,
    finish,
    matches(line) {
      let { isMatch, at, state } = advance(start, line, 0, line.length);
      while (!isMatch && at < line.length) ({ isMatch, at, state } = advance(state, line, at, line.length));
      return isMatch || finish(state);
    },
  };
}

/** Without holes, which would make looking it up slow. */
function link(state: LineState, kind: number, next: LineState): void {
  while (state.next.length <= kind) state.next.push(undefined);
  state.next[kind] = next;
}

function makeState(kernel: readonly number[], before: Before): LineState {
  return { kernel, before, next: [], matchesAtEnd: undefined };
}

function holds(is: Assertion, before: Before, after: "word" | "other" | "end", isBoundary: boolean): boolean {
  if (is === "start") return before === "start";
  if (is === "end") return after === "end";
  return isBoundary === (is === "boundary");
}

/** Characters that every set of the pattern treats alike are of one kind. The runtime says what is in a set. */
function createKinds({ sets, asksForWords }: Program) {
  const testers = [...sets, ...(asksForWords ? [{ source: WORD_SET, ignoreCase: false }] : [])].map(
    ({ source, ignoreCase }) => new RegExp(`^${source}$`, ignoreCase ? "vi" : "v"),
  );
  /** By kind. The first two are those above. */
  const members: (readonly boolean[])[] = [[], []];
  const bySignature = new Map<string, number>();
  /** By code unit. */
  const table = new Uint16Array(0x10000);
  table[LINE_FEED] = NEWLINE;
  const beyond = new Map<number, number>();

  function classify(code: number): number {
    const character = String.fromCodePoint(code);
    const inSets = testers.map((tester) => tester.test(character));
    const signature = inSets.map(Number).join("");
    const known = bySignature.get(signature);
    if (known !== undefined) return known;
    if (members.length >= MOST_KINDS) throw new UserError("Cannot use the pattern: it has too many sets");
    const kind = members.push(inSets) - 1;
    bySignature.set(signature, kind);
    return kind;
  }

  return {
    table,
    learn(code: number): number {
      const isInTable = code !== CARRIAGE_RETURN && (code < 0xd800 || (code > 0xdfff && code <= 0xffff));
      const kind = (isInTable ? undefined : beyond.get(code)) ?? classify(code);
      if (isInTable) table[code] = kind;
      else beyond.set(code, kind);
      return kind;
    },
    isIn: (kind: number, set: number): boolean => members[kind]?.[set] ?? false,
    isWord: (kind: number): boolean => asksForWords && (members[kind]?.[sets.length] ?? false),
  };
}

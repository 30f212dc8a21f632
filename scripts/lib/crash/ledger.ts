/** What was said, what was shown for it, and when the program was killed: all that the judgement needs. */

import { findMarks, isStopReply, marksOf, type Request, readMark } from "./marks.ts";

/** Counts everything that happens, so that anything is before or after anything else. */
export type Tick = number;

export interface Said {
  readonly chat: string;
  readonly at: Tick;
  /** When the program said that it has it. */
  acceptedAt?: Tick;
  /** `undefined` for a `/stop`. */
  readonly request: Request | undefined;
}

export interface Kill {
  /** Nothing that was sent before it is still to come. */
  readonly at: Tick;
  /** `performance.now()` */
  readonly ms: number;
}

/** A message on the platform, as people see it in the end. */
export interface Shown {
  readonly chat: string;
  readonly at: Tick;
  /** `performance.now()` when it was first seen. */
  readonly ms: number;
  marks: readonly string[];
  /** It tells that something was stopped. */
  readonly isStop: boolean;
  /** Its beginning. */
  text: string;
}

export interface Ledger {
  readonly said: readonly Said[];
  readonly shown: readonly Shown[];
  readonly kills: readonly Kill[];
  /** Numbers of messages that another chat must have been told of. */
  readonly forwarded: ReadonlySet<number>;
  /** Numbers of messages that may stay without an answer. */
  readonly excused: ReadonlySet<number>;
  say(chat: string, request: Request | undefined): Said;
  accept(said: Said): void;
  now(): Tick;
  /** `at` is when it arrived, unless that is now. */
  show(chat: string, text: string, at?: Tick): Shown;
  /** A message was changed on the platform. */
  change(shown: Shown, text: string): void;
  /** The program was killed at `ms`, and nothing that it sent is still to come. */
  kill(ms: number): void;
  forward(number: number): void;
  /** Nobody knows any more whether it will be answered: its answer was a call that was cut off. */
  excuse(number: number): void;
  chatOf(number: number): string | undefined;
  /** Messages that are not accepted or not answered. */
  open(): readonly Said[];
  /** How many are waited for: those that a reply to `/stop` may have called off are not. */
  waitingCount(): number;
  /** `performance.now()` of the last time that anything was accepted or shown. */
  readonly progressAt: number;
}

/** Kept of what was shown, for the report. */
const EXCERPT = 120;

export function createLedger(): Ledger {
  let tick: Tick = 0;
  let progressAt = performance.now();
  const said: Said[] = [];
  const shown: Shown[] = [];
  const kills: Kill[] = [];
  const forwarded = new Set<number>();
  const excused = new Set<number>();
  /** By message what is still to be shown, or accepted. */
  const missing = new Map<Said, Set<string>>();
  const waiting = new Set<Said>();
  const byNumber = new Map<number, Said>();

  function see({ chat, marks }: Shown): void {
    progressAt = performance.now();
    for (const mark of marks) {
      const { kind, number } = readMark(mark);
      const message = kind === "answer" ? byNumber.get(number) : undefined;
      if (message?.chat === chat) strike(message, mark);
    }
  }

  function strike(message: Said, mark: string): void {
    const rest = missing.get(message);
    rest?.delete(mark);
    if (rest?.size !== 0) return;
    missing.delete(message);
    waiting.delete(message);
  }

  function callOff(chat: string, at: Tick): void {
    for (const message of waiting)
      if (message.chat === chat && message.at < at && message.acceptedAt !== undefined)
        waiting.delete(message);
  }

  return {
    said,
    shown,
    kills,
    forwarded,
    excused,
    say(chat, request) {
      const message: Said = { chat, at: ++tick, request };
      said.push(message);
      waiting.add(message);
      missing.set(message, new Set(["accepted", ...(request ? marksOf(request) : [])]));
      if (request !== undefined) byNumber.set(request.number, message);
      return message;
    },
    accept(message) {
      progressAt = performance.now();
      message.acceptedAt ??= ++tick;
      strike(message, "accepted");
    },
    now: () => ++tick,
    show(chat, text, at = ++tick) {
      const marks = findMarks(text);
      const entry: Shown = {
        chat,
        at,
        ms: performance.now(),
        marks,
        isStop: isStopReply(text),
        text: text.slice(0, EXCERPT),
      };
      shown.push(entry);
      see(entry);
      if (entry.isStop) callOff(chat, at);
      return entry;
    },
    change(entry, text) {
      entry.text = text.slice(0, EXCERPT);
      const marks = findMarks(text);
      if (marks.join() === entry.marks.join()) return;
      entry.marks = marks;
      see(entry);
    },
    kill: (ms) => void kills.push({ at: ++tick, ms }),
    forward: (number) => void forwarded.add(number),
    excuse(number) {
      excused.add(number);
      const message = byNumber.get(number);
      if (message?.request !== undefined) for (const mark of marksOf(message.request)) strike(message, mark);
    },
    chatOf: (number) => byNumber.get(number)?.chat,
    open: () => [...missing.keys()],
    waitingCount: () => waiting.size,
    get progressAt() {
      return progressAt;
    },
  };
}

/** `approvals.json`: the questions that were put to the owner, on disk before anybody acts on them. */

import type { Chat } from "../core/access.ts";
import type { Clock, FileSystem, Log } from "../core/platform.ts";
import { explained } from "../lib/file-error.ts";
import { isObject } from "../lib/is-object.ts";
import { createJsonFile, refuseNewer } from "../lib/json-file.ts";
import { createLanes } from "../lib/lanes.ts";
import { join } from "../lib/path.ts";
import { parseCode } from "./code.ts";

const VERSION = 1;
const LONGEST_FILE = 4 * 1024 * 1024;
/** A turn that goes on later than this has forgotten more than its question. */
const KEPT_MS = 7 * 24 * 60 * 60_000;

export interface Question {
  /** Of the notice that puts it: another question, another key. */
  readonly key: string;
  readonly code: string;
  /** The call's own id. */
  readonly call: string;
  /** Of exactly what would be done. */
  readonly digest: string;
  /** Where it was put. */
  readonly chat: Chat;
  /** Without secrets, and not all of it. */
  readonly what: string;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** An answer holds until the call has used it; then the question is `ended`, as it is when nobody waits any more. */
  readonly state: "waiting" | "granted" | "denied" | "ended";
  /** Who answered. */
  readonly by?: string;
  /** Whoever asked it ends with the process, and so does the question. */
  readonly isPassing?: true;
}

export interface QuestionBook {
  readonly path: string;
  all(): readonly Question[];
  /** On disk when it resolves; to `false` when too many wait. `isOver` tells which need not be kept. */
  add(question: Question, isOver: (question: Question) => boolean): Promise<boolean>;
  /** On disk when it resolves, to whether the question could be answered. */
  answer(key: string, answer: Pick<Question, "state" | "by">): Promise<boolean>;
  /**
   * Ends a question. `before` is what it was, `undefined` when it had ended; `problem` is why that is not on disk.
   * Never rejects.
   */
  end(key: string): Promise<{ readonly before: Question | undefined; readonly problem?: unknown }>;
}

function isState(value: unknown): value is Question["state"] {
  return value === "waiting" || value === "granted" || value === "denied" || value === "ended";
}

function parseQuestion(value: unknown): Question | undefined {
  if (!isObject(value) || !isObject(value["chat"])) return undefined;
  const { key, code, call, digest, what, askedAt, state, by, isPassing } = value;
  const { channel, chatId } = value["chat"];
  if (typeof key !== "string" || typeof code !== "string" || parseCode(code) !== code) return undefined;
  if (typeof call !== "string" || typeof digest !== "string" || typeof what !== "string") return undefined;
  if (typeof channel !== "string" || typeof chatId !== "string") return undefined;
  if (typeof askedAt !== "number" || !isState(state)) return undefined;
  const rest = {
    ...(typeof by === "string" ? { by } : {}),
    ...(isPassing === true ? { isPassing: true as const } : {}),
  };
  return { key, code, call, digest, chat: { channel, chatId }, what, askedAt, state, ...rest };
}

function parseQuestions(path: string): (value: unknown) => readonly Question[] | undefined {
  return (value) => {
    if (!isObject(value) || !Array.isArray(value["questions"])) return undefined;
    refuseNewer(value, { path, version: VERSION });
    return value["questions"].flatMap((question) => parseQuestion(question) ?? []);
  };
}

export interface QuestionBookOptions {
  readonly files: FileSystem;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly workspace: string;
  readonly most: number;
}

/** Throws a `UserError` when the file cannot be read, or is of a newer version. A damaged one is put aside. */
export async function openQuestionBook({
  files,
  clock,
  log,
  workspace,
  most,
}: QuestionBookOptions): Promise<QuestionBook> {
  const path = join(workspace, ".nanobot", "approvals.json");
  const file = createJsonFile({ files, log, path, parse: parseQuestions(path), longest: LONGEST_FILE });
  const lanes = createLanes({ limit: 1 });
  let questions = await explained("read", path, load);

  async function load(): Promise<readonly Question[]> {
    const state = (await file.readOrBegin(clock.now())) ?? [];
    return state.filter(({ askedAt, isPassing }) => isPassing !== true && clock.now() - askedAt < KEPT_MS);
  }

  function write(next: readonly Question[]): Promise<void> {
    return explained("write", path, () => file.write({ v: VERSION, questions: next }));
  }

  function changed(key: string, change: (question: Question) => Question): readonly Question[] {
    return questions.map((question) => (question.key === key ? change(question) : question));
  }

  /** One change after the other, each on what the one before left. */
  function alone<T>(work: () => Promise<T>): Promise<T> {
    return lanes.run(path, work);
  }

  return {
    path,
    all: () => questions,

    add: (question, isOver) =>
      alone(async () => {
        const isNeeded = (other: Question) => other.state !== "ended" && !isOver(other);
        const spare = questions.filter((other) => !isNeeded(other));
        const room = most - 1 - (questions.length - spare.length);
        if (room < 0) return false;
        const dropped = new Set(spare.slice(0, Math.max(0, spare.length - room)));
        const next = [...questions.filter((other) => !dropped.has(other)), question];
        await write(next);
        questions = next;
        return true;
      }),

    answer: (key, answer) =>
      alone(async () => {
        const isOpen = questions.some((question) => question.key === key && question.state === "waiting");
        if (!isOpen) return false;
        const next = changed(key, (question) => ({ ...question, ...answer }));
        await write(next);
        questions = next;
        return true;
      }),

    end: (key) =>
      alone(async () => {
        const before = questions.find((question) => question.key === key);
        if (before === undefined || before.state === "ended") return { before: undefined };
        // Whether or not it can be written: nobody waits for its answer any more.
        questions = changed(key, (question) => ({ ...question, state: "ended", what: "" }));
        try {
          await write(questions);
          return { before };
        } catch (problem) {
          return { before, problem };
        }
      }),
  };
}

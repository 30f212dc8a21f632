/** Puts questions to the owner's chat, where they are answered by a code, and where they outlive the process. */

import { Buffer } from "node:buffer";
import { createHash, randomBytes as cryptoRandomBytes } from "node:crypto";
import type { Chat, FindOwner } from "../core/access.ts";
import type { Answerer, ApprovalAnswer, ApprovalQuestion, Approvals, AskOwner } from "../core/approval.ts";
import { Stopped } from "../core/errors.ts";
import type { Button } from "../core/messages.ts";
import type { Clock, FileSystem, Log } from "../core/platform.ts";
import type { ToolRun } from "../core/tool-run.ts";
import { abortable, limitSignal } from "../lib/abort.ts";
import { APPROVE, DENY } from "../lib/phrases.ts";
import { showCode } from "../lib/show-code.ts";
import { clip, oneLine } from "../lib/text.ts";
import { isSamePerson } from "./allow.ts";
import { isSameCode, newCode, parseCode, type RandomBytes } from "./code.ts";
import { parseChat } from "./owner.ts";
import { openQuestionBook, type Question } from "./question-book.ts";
import { questionText, shownOf } from "./question-text.ts";

const EXPIRES_MS = 10 * 60_000;
const MINUTE_MS = 60_000;
/** Questions that are kept, and so also those that can wait at once. */
const MOST_QUESTIONS = 100;
const KEY_BYTES = 12;
/** Of what is said to have been answered, and of who did. */
const LONGEST_ANSWERED = 200;

export interface DurableApprovalsOptions {
  readonly files: FileSystem;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly log: Log;
  /** Absolute and real. */
  readonly workspace: string;
  readonly owner: FindOwner;
  /** Who may answer, as `channel:senderId`, in any chat of the channel. Without any, who is in the chat it was put to. */
  readonly approvers: readonly string[];
  /** Resolves when the notice is safe with the bus. The same key is put only once. */
  readonly put: (
    chat: Chat,
    text: string,
    buttons: readonly (readonly Button[])[],
    key: string,
  ) => Promise<void>;
  readonly mask: (text: string) => string;
  /** Whether a later process takes up what asks. An answer to anything else would be an answer to nobody. Left out, always. */
  readonly isResumed?: (run: ToolRun) => boolean;
  readonly randomBytes?: RandomBytes;
  /** From the moment a question is first put. */
  readonly expiresMs?: number;
  readonly mostQuestions?: number;
}

const nobody: ApprovalAnswer = { granted: false, why: "nobody" };
const expired: ApprovalAnswer = { granted: false, why: "expired" };

/** Of exactly what would be done: nothing of it can be read from this. */
function digestOf({ tool, what, reason }: ApprovalQuestion): string {
  return createHash("sha256")
    .update(JSON.stringify([tool, what, reason]))
    .digest("hex");
}

function answerOf(question: Question | undefined): ApprovalAnswer {
  const by = question?.by;
  if (question?.state === "granted") return { granted: true, by: by ?? "" };
  if (question?.state !== "denied") return expired;
  return { granted: false, why: "denied", ...(by === undefined ? {} : { by }) };
}

function buttonsOf(code: string): readonly (readonly Button[])[] {
  return [
    [
      { label: APPROVE, send: `/approve ${code}` },
      { label: DENY, send: `/deny ${code}` },
    ],
  ];
}

/** Throws a `UserError` when the questions of the process before cannot be read. */
export async function createDurableApprovals({
  files,
  clock,
  log,
  workspace,
  owner,
  approvers,
  put,
  mask,
  isResumed = () => true,
  randomBytes = cryptoRandomBytes,
  expiresMs = EXPIRES_MS,
  mostQuestions = MOST_QUESTIONS,
}: DurableApprovalsOptions): Promise<Approvals> {
  const book = await openQuestionBook({ files, clock, log, workspace, most: mostQuestions });
  /** Of the questions that somebody waits for in this process. */
  const waiters = new Map<string, () => void>();

  /** Never longer than a question lasts, whatever the clock says. */
  function leftOf({ askedAt }: Question): number {
    const left = askedAt + expiresMs - clock.now();
    return left > 2 * expiresMs ? 0 : Math.min(Math.max(0, left), expiresMs);
  }

  /** One that is waited for is over when its waiter says so. */
  function isOver(question: Question): boolean {
    return !waiters.has(question.key) && leftOf(question) === 0;
  }

  function openFor(call: string): Question | undefined {
    return book.all().find((question) => question.call === call && question.state !== "ended");
  }

  async function end(key: string): Promise<ApprovalAnswer> {
    const { before, problem } = await book.end(key);
    if (problem === undefined) return answerOf(before);
    log.error("Could not record that a question has ended", { path: book.path, error: problem });
    // After a kill the answer would be there for a second call, so the first must not have it.
    return before?.state === "granted" ? nobody : answerOf(before);
  }

  /** A question that goes on where it was left, or a new one. `undefined` when it cannot be put to anybody. */
  async function record(question: ApprovalQuestion): Promise<Question | undefined> {
    const digest = digestOf(question);
    const earlier = openFor(question.id);
    if (earlier?.digest === digest) return earlier;
    // What it was asked for is not what would be done now.
    if (earlier !== undefined) await end(earlier.key);
    const chat = await owner();
    if (chat === undefined) return undefined;
    const made: Question = {
      key: Buffer.from(randomBytes(KEY_BYTES)).toString("hex"),
      code: newCode(randomBytes, (code) => book.all().some((other) => other.code === code)),
      call: question.id,
      digest,
      chat: { channel: chat.channel, chatId: chat.chatId },
      what: shownOf(question.what, mask).text,
      askedAt: clock.now(),
      state: "waiting",
      ...(isResumed(question.run) ? {} : { isPassing: true }),
    };
    if (await book.add(made, isOver)) return made;
    log.warn("Too many questions wait for the owner, so another one is not put", { tool: question.tool });
    return undefined;
  }

  /** Resolves when it is answered or its time is over. */
  async function wait(asked: Question, question: ApprovalQuestion, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const ms = leftOf(asked);
    const limit = limitSignal(signal, { clock, ms });
    waiters.set(asked.key, resolve);
    try {
      limit.signal.throwIfAborted();
      // It may have been answered while nobody waited for that.
      if (!book.all().some(({ key, state }) => key === asked.key && state === "waiting")) return;
      const code = showCode(asked.code);
      const minutes = Math.ceil(ms / MINUTE_MS);
      const text = questionText({ question, code, minutes, mask });
      await abortable(put(asked.chat, text, buttonsOf(code), asked.key), limit.signal);
      await abortable(promise, limit.signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!limit.signal.aborted) throw error;
    } finally {
      limit.release();
      waiters.delete(asked.key);
    }
  }

  const ask: AskOwner = async (question, signal) => {
    signal.throwIfAborted();
    let asked: Question | undefined;
    try {
      asked = await record(question);
      if (asked === undefined) return nobody;
      if (asked.state === "waiting" && leftOf(asked) > 0) await wait(asked, question, signal);
      signal.throwIfAborted();
      return await end(asked.key);
    } catch (error) {
      // When the program ends, its questions stand for the next one.
      const isShutdown = signal.reason instanceof Stopped && signal.reason.by === "shutdown";
      if (asked !== undefined && !isShutdown) await end(asked.key);
      signal.throwIfAborted();
      log.warn("The owner could not be asked", { tool: question.tool, error });
      return nobody;
    }
  };

  async function mayAnswer(by: Answerer, asked: Question | undefined): Promise<boolean> {
    if (approvers.length > 0) {
      return approvers.some((approver) => {
        const named = parseChat(approver);
        return named?.channel === by.channel && isSamePerson(named.chatId, by.senderId);
      });
    }
    const chat = asked?.chat ?? (await owner());
    return chat?.channel === by.channel && chat.chatId === by.chatId;
  }

  return {
    ask,
    isWaiting: (id) => openFor(id) !== undefined,
    async answer(text, granted, by) {
      const code = parseCode(text);
      // All of them are compared, so that the time it takes says nothing.
      const asked = book
        .all()
        .filter((question) => code !== undefined && isSameCode(question.code, code))
        .at(-1);
      if (!(await mayAnswer(by, asked))) return { status: "notAllowed" };
      if (asked === undefined || asked.state !== "waiting" || isOver(asked)) return { status: "unknown" };
      const answer = {
        state: granted ? "granted" : "denied",
        by: clip(`${by.channel}:${by.senderId}`, LONGEST_ANSWERED),
      } as const;
      if (!(await book.answer(asked.key, answer))) return { status: "unknown" };
      waiters.get(asked.key)?.();
      return { status: "answered", what: oneLine(asked.what, LONGEST_ANSWERED) };
    },
  };
}

/** The numbers by which messages and what became of them are found again, wherever they turn up. */

import { stopped } from "../../../src/lib/phrases.ts";

/** A message with number 17 says `q17` and what it wants of the model. */
export interface Request {
  readonly number: number;
  readonly task: Task;
}

/**
 * What a message makes the model do before it answers: nothing, call tools, think for a while, write slowly, write
 * more than one message of a platform holds, answer by the `message` tool, write to another chat by it.
 */
const TASKS = ["plain", "tools", "slow", "stream", "long", "message", "forward"] as const;
export type Task = (typeof TASKS)[number];

/** Lines of a long answer: 9,000 characters in all. */
export const LONG_LINES = 60;
const LINE_LENGTH = 149;
/** Within one message of any platform. */
const FILLERS = 140;

export function askFor({ number, task }: Request): string {
  return `q${number} ${task}${fillerOf(number)}`;
}

/** Every other message is long, and so is its answer: journals grow, and are made smaller, more often. */
function fillerOf(number: number): string {
  return number % 2 === 0 ? `\n${"And so on, and so forth. ".repeat(FILLERS)}` : "";
}

/** In the order they stand there. */
export function findRequests(text: string): readonly Request[] {
  return [...text.matchAll(/\bq(\d+) ([a-z]+)\b/g)].flatMap(([, digits, word]) => {
    const task = TASKS.find((known) => known === word);
    return task === undefined ? [] : [{ number: Number(digits), task }];
  });
}

/** What the chat must show when the message is answered, in this order. */
export function marksOf({ number, task }: Request): readonly string[] {
  const lines = task === "long" ? LONG_LINES : 2;
  return Array.from({ length: lines }, (_, index) => `a${number}/${index + 1}`);
}

/** What another chat is shown for the sake of message `number`, with a `;` behind it. */
export function forwardMark(number: number): string {
  return `x${number}`;
}

/** An answer to `request`, with all its marks. */
export function answerTo(request: Request): string {
  const marks = marksOf(request);
  const [begin, end] = marks;
  if (marks.length === 2) return `${begin}; is your answer.${fillerOf(request.number)}\nThat is all, ${end};`;
  return marks
    .map((mark) => `${mark}; `.padEnd(LINE_LENGTH, "nothing is lost and nothing doubled "))
    .join("\n");
}

/** Each one once, in the order of the text. What follows a mark ends it, so that none is read from a part of one. */
export function findMarks(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\b([ax]\d+(?:\/\d+)?);/g)].map(([, mark = ""]) => mark))];
}

/** The beginning of an answer, too short to tell which. */
export function isFragment(text: string): boolean {
  return /^a\d/.test(text) && findMarks(text).length === 0;
}

/** The message that a mark belongs to, and its place in the answer. */
export function readMark(mark: string): { kind: "answer" | "forward"; number: number; line: number } {
  const [number = "", line = "0"] = mark.slice(1).split("/");
  return { kind: mark.startsWith("x") ? "forward" : "answer", number: Number(number), line: Number(line) };
}

/** The command of a call that leaves its own number behind, once each time it runs. */
export function effectCommand(call: number, seconds: number): string {
  return seconds === 0 ? `echo c${call} >> ${EFFECTS}` : `sleep ${seconds} && echo c${call} >> ${EFFECTS}`;
}

/** In the workspace. */
export const EFFECTS = "effects.log";

export function effectOf(command: string): number | undefined {
  const digits = /\becho c(\d+) >>/.exec(command)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const STOP_REPLY = new RegExp(`^(${stopped(0)}|${stopped(1)}|${stopped(2).replace("2", "\\d+")})$`, "m");

/** Whether it is what the program says to a `/stop`. */
export function isStopReply(text: string): boolean {
  return STOP_REPLY.test(text);
}

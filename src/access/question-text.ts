/** How a question to the owner reads in a chat: what would be done as it is, and nothing that could pass for more. */

import type { ApprovalQuestion } from "../core/approval.ts";
import { escapeMarkdown } from "../lib/escape-markdown.ts";
import { exactText } from "../lib/exact-text.ts";
import { approvalAsked, blanksOfQuestion, leftOutOfQuestion } from "../lib/phrases.ts";
import { clip, headTail, wellFormed } from "../lib/text.ts";

/** Of what would be done. With more of it few platforms would show the question in one message. */
const LONGEST_WHAT = 3_000;
const LONGEST_REASON = 500;
const LONGEST_NAME = 200;

/** More of them in a row than a command needs: what stands behind would be out of sight. */
const BLANKS = /(?: *\n){6,}| {100,}/g;

/** As many backticks as nothing inside can end, at least `least`. */
function fenceFor(text: string, least: number): string {
  const runs = text.match(/`+/g) ?? [];
  return "`".repeat(Math.max(least, ...runs.map((run) => run.length + 1)));
}

function fenced(text: string): string {
  const fence = fenceFor(text, 3);
  return `${fence}\n${text}\n${fence}`;
}

function inCode(text: string): string {
  if (text === "") return "nothing";
  const mark = fenceFor(text, 1);
  // A backtick at an end would belong to the mark.
  const space = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return mark + space + text + space + mark;
}

/** On one line, so that it cannot look like a part of the question. */
function line(text: string, most: number): string {
  return clip(exactText(wellFormed(text).replace(/\s+/g, " ").trim()), most);
}

/** What is shown of what would be done, without secrets; `leftOut` characters of it are not. */
export function shownOf(
  what: string,
  mask: (text: string) => string,
): { readonly text: string; readonly leftOut: number } {
  const all = exactText(mask(wellFormed(what))).replace(
    BLANKS,
    (blanks) => `\n⟨${blanksOfQuestion(blanks.length)}⟩\n`,
  );
  let leftOut = 0;
  const text = headTail(all, LONGEST_WHAT, (cut) => {
    leftOut = cut;
    return `\n⟨${leftOutOfQuestion(cut)}⟩\n`;
  });
  return { text, leftOut };
}

export interface QuestionTextOptions {
  readonly question: ApprovalQuestion;
  /** As people read it. */
  readonly code: string;
  readonly minutes: number;
  readonly mask: (text: string) => string;
}

/** In Markdown. */
export function questionText({ question, code, minutes, mask }: QuestionTextOptions): string {
  const { text, leftOut } = shownOf(question.what, mask);
  return approvalAsked({
    tool: inCode(line(question.tool, LONGEST_NAME)),
    what: fenced(text),
    leftOut,
    reason: escapeMarkdown(line(mask(question.reason), LONGEST_REASON)).replace(/[.\s]+$/, ""),
    session: inCode(line(mask(question.run.sessionKey), LONGEST_NAME)),
    code,
    minutes,
  });
}

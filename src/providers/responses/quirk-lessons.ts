/** What refusals of Responses servers mean. */

import type { ChatRequest } from "../../core/model.ts";
import type { Lesson } from "../wire/learner.ts";
import { near, UNSUPPORTED } from "../wire/refusal-text.ts";
import { effortFor } from "./effort.ts";
import type { ResponsesQuirks } from "./quirks.ts";

/** Words that are also ordinary ones count only in quotes. */
function quoted(name: string): string {
  return `["'\`]${name}\\\\?["'\`]`;
}

const REFUSES_EFFORT = /reasoning[._]effort/i;

interface WordedLesson extends Lesson<ResponsesQuirks> {
  readonly says: readonly RegExp[];
}

/** The telling ones come first: the message about ids also speaks of `store`. */
const lessons: readonly WordedLesson[] = [
  {
    topic: "reasoning ids",
    says: [/item with id .{1,100} not found|not persisted when/i],
    teaches: { noReasoningIds: true },
  },
  { topic: "summary", says: [/reasoning\.summary|reasoning summar/i], teaches: { noSummary: true } },
  {
    topic: "include",
    says: [near(quoted("include"), UNSUPPORTED), /encrypted content is not support/i],
    teaches: { noInclude: true },
  },
  { topic: "temperature", says: [near("temperature", UNSUPPORTED)], teaches: { noTemperature: true } },
  { topic: "forced tool", says: [/tool_choice/i], teaches: { noForcedTool: true } },
  { topic: "limit", says: [near("max_output_tokens", UNSUPPORTED)], teaches: { noLimit: true } },
  { topic: "store", says: [near(quoted("store"), UNSUPPORTED)], teaches: { noStore: true } },
  {
    topic: "results",
    // OpenAI's own words for a wrong type, LM Studio's for any, and those of llama.cpp.
    says: [/\.output\b.{0,80}\b(string|type|array)/i, /invalid type for 'input'/i, /output of tool call/i],
    teaches: { textResults: true },
  },
];

/** What a refusal of `request` that says `text` may teach, when it was made with these quirks. */
export function quirkLessons(
  text: string,
  request: ChatRequest,
  quirks: ResponsesQuirks,
): readonly Lesson<ResponsesQuirks>[] {
  const worded = lessons.filter(({ says }) => says.some((pattern) => pattern.test(text)));
  const effort = REFUSES_EFFORT.test(text) ? effortFor(request, quirks) : undefined;
  if (effort === undefined) return worded;
  const refusedEfforts = new Set([...quirks.refusedEfforts, effort]);
  return [{ topic: `effort ${effort}`, teaches: { refusedEfforts } }, ...worded];
}

/** Whether the server cannot read, or cannot place, the thoughts that it was given back. */
export function refusesThoughts(text: string): boolean {
  return /encrypted.content.{0,300}(could not|cannot|not support)|invalid_encrypted_content|without its required|input\[\d+\]\.(encrypted_content|summary|phase)/i.test(
    text,
  );
}

/** What refusals of chat-completions servers mean. */

import type { Lesson } from "../wire/learner.ts";
import { near, UNSUPPORTED } from "../wire/refusal-text.ts";
import type { Quirks } from "./quirks.ts";

/** `invalid_request_error` is the type of them all. */
const REFUSED = `${UNSUPPORTED}|unexpected|invalid\\b|\\bonly\\b|no endpoints`;

const EMPTY_CONTENT = near(
  // Not `content-type`.
  "\\bcontent\\b(?!-)",
  "\\bnull\\b|\\bnil\\b|\\bnone\\b|empty|required|missing|whitespace|(be|expected|valid) (an? )?(valid )?string",
  80,
);

interface WordedLesson extends Lesson<Quirks> {
  readonly says: RegExp;
  readonly unless?: RegExp;
}

/** The first that fits is learnt, so those whose words are in the refusals of others come later. */
const lessons: readonly WordedLesson[] = [
  { topic: "stream options", says: /stream_options/, teaches: { noStreamOptions: true } },
  {
    topic: "completion tokens",
    says: /use .{0,3}max_completion_tokens/i,
    teaches: { completionTokens: true },
  },
  {
    topic: "only max tokens",
    says: near("max_completion_tokens", REFUSED),
    teaches: { completionTokens: false },
  },
  {
    topic: "forced tool",
    says: near("tool[_ ]choice", `${REFUSED}|incompatible|may not|must be`),
    teaches: { noForcedTool: true },
  },
  {
    topic: "call ids",
    says: /(tool.?call.?id|tool_calls.{0,20}\bid\b).{0,200}(length of 9|must be 9|too long)/i,
    teaches: { shortCallIds: true },
  },
  {
    topic: "user after tool",
    says: /unexpected role .{0,2}user.{0,2} after role .{0,2}tool/i,
    teaches: { noUserAfterTool: true },
  },
  {
    topic: "signatures demanded",
    says: near("thought_?signature", "missing|required", 40),
    teaches: { thoughtSignatures: true },
  },
  {
    topic: "signatures refused",
    says: near("extra_content", REFUSED),
    teaches: { thoughtSignatures: false },
  },
  {
    topic: "reasoning demanded",
    says: near("reasoning_content", "must be|missing|required", 80),
    teaches: { replayReasoning: true },
  },
  {
    topic: "reasoning refused",
    says: near("reasoning_content", REFUSED),
    teaches: { replayReasoning: false },
  },
  { topic: "cache markers", says: near("cache_control", REFUSED), teaches: { cacheMarkers: false } },
  { topic: "temperature", says: near("temperature", REFUSED), teaches: { noTemperature: true } },
  {
    topic: "thinking",
    says: near(
      "reasoning.?effort|enable_thinking|reasoning_split|\\bthinking\\b|\\breasoning\\b|\\bthink value",
      `${REFUSED}|should be|must be|mandatory|cannot be disabled`,
    ),
    // What is refused there is something else, while the model thinks.
    unless: /tool_choice|reasoning_content|thought_?signature/i,
    teaches: { thinking: "none" },
  },
  { topic: "content", says: EMPTY_CONTENT, teaches: { nullContent: true } },
  { topic: "content", says: EMPTY_CONTENT, teaches: { nullContent: false } },
  { topic: "content", says: /'assistant' must not be empty/i, teaches: { nullContent: true } },
];

/** What a refusal that says `text` may teach. */
export function quirkLessons(text: string): readonly Lesson<Quirks>[] {
  return lessons.filter(({ says, unless }) => says.test(text) && !unless?.test(text));
}

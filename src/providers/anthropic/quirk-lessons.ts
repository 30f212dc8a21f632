/** What refusals of servers of Anthropic's protocol mean. */

import type { Lesson } from "../wire/learner.ts";
import type { AnthropicQuirks } from "./quirks.ts";
import type { Settings } from "./settings.ts";

interface WordedLesson extends Lesson<AnthropicQuirks> {
  /** Whether what was sent can be what is refused. */
  readonly of: (sent: Settings) => boolean;
  readonly says: RegExp;
}

/** The first that fits is learnt. Each takes out what it is about. */
const lessons: readonly WordedLesson[] = [
  {
    topic: "temperature",
    of: ({ temperature }) => temperature !== undefined,
    says: /temperature/i,
    teaches: { noTemperature: true },
  },
  {
    topic: "forced tool",
    of: ({ toolChoice }) => toolChoice?.["type"] === "tool",
    says: /tool_choice/i,
    teaches: { noForcedTool: true },
  },
  {
    topic: "off switch",
    of: ({ thinking }) => thinking?.type === "disabled",
    says: /disabled/i,
    teaches: { offSwitch: false },
  },
  {
    topic: "budget",
    of: ({ thinking }) => thinking?.type === "enabled",
    says: /adaptive|budget_tokens|thinking\.type/i,
    teaches: { adaptiveOnly: true },
  },
  {
    topic: "effort",
    of: ({ effort }) => effort !== undefined,
    says: /effort|output_config/i,
    teaches: { noEffort: true },
  },
  {
    topic: "adaptive",
    of: ({ thinking }) => thinking?.type === "adaptive",
    says: /adaptive/i,
    teaches: { budgetOnly: true },
  },
];

/** What a refusal that says `text` may teach, when these settings were sent. */
export function quirkLessons(text: string, sent: Settings): readonly Lesson<AnthropicQuirks>[] {
  const worded = lessons.filter(({ of, says }) => of(sent) && says.test(text));
  const mostTokens = Number(/max_tokens: \d+ > (\d+)/.exec(text)?.[1]);
  // The number says what it is about: nothing else is as telling.
  return mostTokens > 0 && mostTokens < sent.maxTokens
    ? [{ topic: "most tokens", teaches: { mostTokens } }, ...worded]
    : worded;
}

/** Whether thoughts that were given back are refused: bound to what has changed since, or another's. */
export function refusesThoughts(text: string): boolean {
  return /thinking|signature/i.test(text);
}

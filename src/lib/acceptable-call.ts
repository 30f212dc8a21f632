/** A model's tool call as every provider takes it back: models make up names and arguments that vendors refuse. */

import { parseToolArguments } from "./tool-arguments.ts";

const NAME_LIMIT = 64;

/** Letters, digits, `_` and `-`, at least one and at most 64. */
export function acceptableName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/gu, "_").slice(0, NAME_LIMIT) || "unknown";
}

/** The text of a JSON object. The result beside the call says what was wrong with arguments that are none. */
export function acceptableArguments(text: string): string {
  const parsed = parseToolArguments(text);
  return parsed.ok ? parsed.text : "{}";
}

/** A tool call as one short line for a person: `read_file("notes.md")`. */

import type { ToolCall } from "../core/model.ts";
import { oneLine } from "./text.ts";
import { parseToolArguments } from "./tool-arguments.ts";

/** At most about `max` characters of the first argument are shown. `mask` takes secrets out before it is cut. */
export function toolHint(
  { name, arguments: text }: Pick<ToolCall, "name" | "arguments">,
  max: number,
  mask: (text: string) => string = (text) => text,
): string {
  const parsed = parseToolArguments(text);
  const first = parsed.ok ? Object.values(parsed.value)[0] : undefined;
  if (first === undefined) return mask(`${name}()`);
  const shown = typeof first === "string" ? first : JSON.stringify(first);
  return `${mask(name)}(${JSON.stringify(oneLine(mask(shown), max))})`;
}

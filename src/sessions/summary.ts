/** The summary of what a session said before its replay begins, where the original keeps it too. */

import type { JsonObject } from "../core/json.ts";
import type { Unconsolidated } from "../core/session.ts";
import { isObject } from "../lib/is-object.ts";
import { clip, wellFormed } from "../lib/text.ts";

const KEY = "_last_summary";

/** Whatever stands in the file: it goes into every prompt of the session. */
const LONGEST = 2_000;

/** "" where there is none. */
export function summaryOf(metadata: JsonObject): string {
  const stored = metadata[KEY];
  const text = isObject(stored) ? stored["text"] : undefined;
  return typeof text === "string" ? clip(wellFormed(text), LONGEST).trim() : "";
}

/** An empty one takes away what there was. */
export function withSummary(
  { [KEY]: _, ...others }: JsonObject,
  summary: string,
  { messages }: Pick<Unconsolidated, "messages">,
): JsonObject {
  const text = clip(wellFormed(summary), LONGEST).trim();
  if (text === "") return others;
  const lastActive = messages.findLast(({ timestamp }) => timestamp !== undefined)?.timestamp;
  return { ...others, [KEY]: { text, ...(lastActive === undefined ? {} : { last_active: lastActive }) } };
}

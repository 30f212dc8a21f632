/** Paths and what else a walk through folders found out, in words for the model. */

import { quote } from "../lib/file-error.ts";
import { SEPARATOR } from "../lib/path.ts";
import type { WalkNotes } from "./walk.ts";

const MOST_NAMED = 5;

/** One line, whatever is in the name, with `/` on every system. */
export function spellPath(path: string): string {
  const shown = SEPARATOR === "/" ? path : path.replaceAll(SEPARATOR, "/");
  return /[\p{Cc}\u2028\u2029]/u.test(shown) || !shown.isWellFormed() ? quote(shown) : shown;
}

/** The first few, and how many others there are. */
export function nameSome(paths: readonly string[]): string {
  const rest = paths.length - MOST_NAMED;
  const named = paths.slice(0, MOST_NAMED).map(spellPath).join(", ");
  return rest > 0 ? `${named}, and ${rest} more` : named;
}

export function describeWalk({ leftOut, unreadable, isPartial }: WalkNotes): string[] {
  const notes = [];
  if (leftOut.size > 0) notes.push(`(Left out: ${[...leftOut].sort().join(", ")})`);
  if (unreadable.length > 0) notes.push(`(Not readable: ${nameSome(unreadable)})`);
  if (isPartial) notes.push("(There is more than one call looks at. Name a folder below with path)");
  return notes;
}

/** Why a passage was not replaced, and what would help, in words for the model. */

import type { Choice, NotChosen } from "../lib/edit/choose.ts";
import type { Edited, EditOutcome } from "../lib/edit/edit-text.ts";
import { findNearestPassage, whatIsInTheWay } from "../lib/edit/nearest-passage.ts";
import { quote } from "../lib/file-error.ts";

export interface RefusedEdit {
  /** As the model wrote it. */
  readonly path: string;
  readonly text: string;
  readonly wanted: string;
  /** `undefined` where nothing can be chosen: the passage must stand there once, as it is written. */
  readonly choice: Choice | undefined;
}

export function explainRefusal(outcome: Exclude<EditOutcome, Edited>, edit: RefusedEdit): string {
  const refused = `Cannot edit ${quote(edit.path)}`;
  switch (outcome.kind) {
    case "same":
      return `${refused}: old_text and new_text are the same`;
    case "unchanged":
      return `${refused}: the file already is as it would become; white space at line ends is left out`;
    case "missing":
      return `${refused}: old_text is not in it${whatWasMeant(edit)}`;
    default:
      return `${refused}: ${explainPlaces(outcome, edit.choice)}`;
  }
}

function explainPlaces({ kind, count, more, lines }: NotChosen, choice: Choice | undefined): string {
  const stands = `old_text stands in it ${countOf(count, more)}, ${whereOf(count, lines)}`;
  switch (kind) {
    case "ambiguous":
      return `${stands}; add lines around it until it is unique${choice ? ", or use occurrence, line_hint or replace_all" : ""}`;
    case "tooFew":
      return `${stands}, so that there is no occurrence ${choice?.occurrence}`;
    case "notAtLine":
      return `${stands}, and none of them covers line ${choice?.lineHint}`;
    case "unexpectedCount":
      return `${stands}, and expected_replacements is ${choice?.expected}`;
    case "tooMany":
      return `${stands}, which are too many to replace at once; use exec with sed`;
  }
}

function countOf(count: number, more: boolean): string {
  return `${count === 1 ? "once" : `${count} times`}${more ? " or more" : ""}`;
}

function whereOf(count: number, lines: readonly number[]): string {
  if (count === 1) return `at line ${lines[0]}`;
  return `${lines.length < count ? "the first at lines" : "at lines"} ${lines.join(", ")}`;
}

function whatWasMeant({ text, wanted, choice }: RefusedEdit): string {
  const advice = whatIsInTheWay(text, wanted, { exactly: choice === undefined });
  if (advice !== undefined) return `; ${advice}`;
  const nearest = findNearestPassage(text, wanted);
  if (nearest === undefined) return "; read it with read_file and copy the passage from there";
  const { firstLine, similarity, diff, differences } = nearest;
  const percent = Math.floor(similarity * 100);
  const hint = differences.length === 0 ? "" : `, which differs in ${differences.join(" and ")} only`;
  const shown = diff.map(({ sign, line }) => `${sign} ${line}`).join("\n");
  return `. The nearest passage is at line ${firstLine} (${percent} % the same)${hint}. From old_text (-) to the file (+):\n${shown}`;
}

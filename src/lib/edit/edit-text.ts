/** Replaces passages of a text and leaves every other byte as it was, line ends included. */

import { type Choice, choosePlaces, LINES_NAMED, type NotChosen, searchFor } from "./choose.ts";
import { findPassages, type MatchKind } from "./find.ts";
import { createRawOffsets, lineEndAt, toLf } from "./line-ends.ts";
import { makeSplice, narrow, type Splice } from "./replacement.ts";

export interface Edit extends Choice {
  readonly before: string;
  readonly after: string;
  /** Found and put in word for word; otherwise also found as it was probably meant, and put in to fit. */
  readonly exactly?: boolean;
  readonly keepTrailingSpace?: boolean;
}

export interface Edited {
  readonly kind: "edited";
  readonly text: string;
  readonly match: MatchKind;
  /** Places that were changed, and the lines where the first few of them were. */
  readonly count: number;
  readonly lines: readonly number[];
}

export type EditOutcome = Edited | NotChosen | { readonly kind: "missing" | "same" | "unchanged" };

/**
 * `before` is looked for with LF and CRLF counting as the same, because the model was shown LF for both.
 * `same`: both passages are; `unchanged`: the text already is as it would become.
 */
export function editText(text: string, edit: Edit): EditOutcome {
  const plain = toLf(text);
  const wanted = toLf(edit.before);
  const replacement = toLf(edit.after);
  if (wanted === replacement) return { kind: "same" };

  const { exactly = false, keepTrailingSpace = false } = edit;
  const found = findPassages(plain, wanted, { ...searchFor(edit), exactly });
  if (found === undefined) return { kind: "missing" };
  const chosen = choosePlaces(plain, found, edit);
  if (chosen.kind !== "chosen") return chosen;

  const { kind } = found;
  const splices = chosen.places.map((passage) =>
    exactly
      ? narrow({ ...passage, inserted: replacement }, wanted)
      : makeSplice({ text: plain, passage, kind, wanted, replacement, keepTrailingSpace }),
  );
  const isChange = ({ from, to, inserted }: Splice) => plain.slice(from, to) !== inserted;
  if (!splices.some(isChange)) return { kind: "unchanged" };
  return {
    kind: "edited",
    text: spliceAll(text, splices),
    match: kind,
    count: chosen.places.length,
    lines: chosen.places.slice(0, LINES_NAMED).map(({ firstLine }) => firstLine),
  };
}

/** `splices` are in order, apart, and count in offsets of the text with LF only. */
function spliceAll(text: string, splices: readonly Splice[]): string {
  const raw = createRawOffsets(text);
  const pieces: string[] = [];
  let done = 0;
  for (const splice of splices) {
    const from = raw(splice.from);
    const to = raw(splice.to);
    const { inserted } = splice;
    const hasCrlf = inserted.includes("\n") && lineEndAt(text, from, to) === "\r\n";
    pieces.push(text.slice(done, from), hasCrlf ? inserted.replaceAll("\n", "\r\n") : inserted);
    done = to;
  }
  pieces.push(text.slice(done));
  return pieces.join("");
}

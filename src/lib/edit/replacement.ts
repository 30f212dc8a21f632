/** What takes the place of a passage, so that it looks like what is around it. */

import type { MatchKind, Passage } from "./find.ts";
import { createReindent } from "./indent.ts";
import { quotedLike } from "./quotes.ts";

/** A change of a text: `inserted` in the place of what is there. */
export interface Splice extends Passage {
  readonly inserted: string;
}

export interface Replacing {
  /** With LF only, as are the others. */
  readonly text: string;
  readonly passage: Passage;
  readonly kind: MatchKind;
  readonly wanted: string;
  readonly replacement: string;
  /** White space at the end of a line means something, as in Markdown. */
  readonly keepTrailingSpace: boolean;
}

export function makeSplice(replacing: Replacing): Splice {
  const { text, passage, kind, wanted } = replacing;
  const replacement = replacing.keepTrailingSpace ? replacing.replacement : withoutTrailingSpace(replacing);
  const { from } = passage;
  const goes = replacing.replacement === "" && isWholeLines(text, passage);
  const to = goes ? passage.to + 1 : passage.to;
  const found = text.slice(from, to);
  if (kind === "trimmed" || kind === "trimmedQuotes") {
    return narrow({ from, to, inserted: adapt(found, wanted, replacement) }, found);
  }
  const inserted = kind === "quotes" ? quotedLike(found, replacement) : replacement;
  // What the request leaves as it is stays as it is in the file, whose quotation marks may be others.
  return narrow({ from, to, inserted }, to > passage.to ? found : wanted, replacement);
}

/** Without what both have in common at their ends: there the file stays byte for byte as it was. */
export function narrow({ from, to, inserted }: Splice, before: string, after: string = inserted): Splice {
  const most = Math.min(before.length, after.length);
  let prefix = 0;
  while (prefix < most && before[prefix] === after[prefix]) prefix++;
  let suffix = 0;
  while (suffix < most - prefix && before[before.length - 1 - suffix] === after[after.length - 1 - suffix]) {
    suffix++;
  }
  return {
    from: from + prefix,
    to: to - suffix,
    inserted: inserted.slice(prefix, inserted.length - suffix),
  };
}

/** Lines that are gone take their line end with them; the middle of a line does not. */
function isWholeLines(text: string, { from, to }: Passage): boolean {
  const startsLine = from === 0 || text[from - 1] === "\n" || (from === 1 && text[0] === "\ufeff");
  return startsLine && text[to] === "\n" && text[to - 1] !== "\n";
}

/** Lines that were asked for as they are keep theirs. What is not the end of a line is not touched. */
function withoutTrailingSpace({ text, passage, wanted, replacement }: Replacing): string {
  if (!/[ \t](\n|$)/.test(replacement)) return replacement;
  const kept = new Set(wanted.split("\n"));
  const lines = replacement.split("\n");
  const endsLine = passage.to === text.length || text[passage.to] === "\n";
  return lines
    .map((line, index) => {
      if (kept.has(line) || (index === lines.length - 1 && !endsLine)) return line;
      let end = line.length;
      while (line[end - 1] === " " || line[end - 1] === "\t") end--;
      return line.slice(0, end);
    })
    .join("\n");
}

/** For a passage of whole lines: its own indentation, its quotation marks, and its lines where none changed. */
function adapt(found: string, wanted: string, replacement: string): string {
  if (replacement === "") return "";
  const isClosed = wanted.endsWith("\n");
  const wantedLines = linesOf(wanted, isClosed);
  const foundLines = linesOf(found, isClosed);
  const dropsLineEnd = isClosed && !replacement.endsWith("\n");
  const newLines = linesOf(replacement, isClosed);

  const most = Math.min(wantedLines.length, newLines.length);
  let above = 0;
  while (above < most && wantedLines[above] === newLines[above]) above++;
  let below = 0;
  while (below < most - above && wantedLines.at(-1 - below) === newLines.at(-1 - below)) below++;

  const reindent = createReindent(
    wantedLines.map((line, index) => ({ wanted: line, found: foundLines[index] ?? line })),
  );
  const changed = newLines
    .slice(above, newLines.length - below)
    .map((line) => quotedLike(found, reindent(line)));
  const lines = [...foundLines.slice(0, above), ...changed, ...foundLines.slice(foundLines.length - below)];
  const end = found.endsWith("\n") && isClosed && !dropsLineEnd ? "\n" : "";
  return lines.join("\n") + end;
}

function linesOf(text: string, isClosed: boolean): readonly string[] {
  return (isClosed && text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

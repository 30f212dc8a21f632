/** The part of a text that the next piece is cut from, and the places where it may be cut. */

import { fittingHead, type Measure } from "./measures.ts";
import { inlineSpans } from "./spans.ts";
import {
  after,
  afterIndent,
  closesFence,
  indentOf,
  isBlank,
  looksLikeBlock,
  quoteOf,
  type Structure,
} from "./structure.ts";

/** Where a piece begins. */
export interface Position {
  readonly line: number;
  /** More than 0 when the line was cut. */
  readonly column: number;
  readonly structure: Structure;
  /** Columns by which the lines of a list that was cut stand too far to the right. */
  readonly strip: number;
}

/** A place to cut: `end` in the text of the window. */
export interface Cut {
  readonly end: number;
  readonly next: Position;
}

export interface Window {
  /** What the piece has of the text, before the cut. */
  readonly text: string;
  /** Opens again what was cut. */
  readonly opening: string;
  /** Nothing follows the window. */
  readonly isLast: boolean;
  readonly structureAtEnd: Structure;
  /** At the beginning of a line. From good to bad, and in each list from the first to the last. */
  readonly lineCuts: Readonly<Record<"blank" | "line" | "code" | "bad", readonly Cut[]>>;
  /** The last within a line: one that leaves bold, code and links whole and the rest what it is, and any at all. */
  innerCut(kind: "sentence" | "space"): { readonly clean: Cut | undefined; readonly any: Cut | undefined };
  /** Where the room ends. */
  hardCut(): Cut;
}

/** A line, or the beginning of one, as it stands in the window. */
interface Entry {
  readonly start: number;
  readonly text: string;
  readonly line: number;
  /** In the source, where `text` begins. */
  readonly column: number;
  readonly before: Structure;
}

/** A span that goes on longer than this may be cut as well. */
const FAR = 1_000;

/** Of a quote, a list or a heading, without what they stand before. */
const LEADING_MARKS = /^(?:[ \t]*(?:[-*+>]|#{1,6}|\d{1,9}[.)]))*[ \t]*/;

const JOINED = String.raw`(?![\p{M}\p{Grapheme_Extend}\p{Emoji_Modifier}\u200d\u0e33\u0eb3])`;
const inner = {
  sentence: new RegExp(`(?:[.!?…:;]["'”’»)\\]*_]*[ \\t]+|[。！？；…][”’」』）》]*[ \\t]*)${JOINED}`, "gu"),
  space: new RegExp(`[ \\t]+${JOINED}`, "gu"),
};

/** From the last to the first. */
function cutsWithin(text: string, kind: keyof typeof inner): number[] {
  return Array.from(text.matchAll(inner[kind]), ({ 0: match, index }) => index + match.length).reverse();
}

function openingOf({ structure: { fence }, column }: Position, line: string): string {
  if (fence === undefined) return column === 0 ? "" : quoteOf(line);
  return `${fence.quote}${fence.marks}${fence.info}\n${column === 0 ? "" : fence.quote}`;
}

export function closingOf({ fence }: Structure): string {
  return fence === undefined ? "" : `\n${fence.quote}${fence.marks}`;
}

/** As many lines from `from` as fit `room`, and the beginning of the next one when there is not even one. */
export function openWindow(lines: readonly string[], from: Position, room: number, measure: Measure): Window {
  const opening = openingOf(from, lines[from.line] ?? "");
  const entries: Entry[] = [];
  const bad: Cut[] = [];
  const blank: Cut[] = [];
  const line: Cut[] = [];
  const code: Cut[] = [];
  let left = room - measure(opening);
  let text = "";
  let { structure, strip } = from;
  let at = from.line;
  let isWhole = true;
  let covered: Uint8Array | undefined;

  function addBoundary(next: Structure, source: string): void {
    const cut: Cut = {
      end: text.length,
      next: {
        line: at,
        column: 0,
        structure: next,
        strip: next.fence?.indent ?? (next.isInList ? indentOf(source) : 0),
      },
    };
    const previous = entries.at(-1);
    const isOpening = next.fence !== undefined && previous?.before.fence !== next.fence;
    // Before it there would be a fence and nothing in it.
    if (isOpening && entries.length === 1) return;
    if (isOpening || (previous !== undefined && /^#{1,6}[ \t]/.test(previous.text))) bad.push(cut);
    else if (next.fence !== undefined) code.push(cut);
    else if (isBlank(source) || isBlank(previous?.text ?? "")) blank.push(cut);
    else line.push(cut);
  }

  while (at < lines.length) {
    const source = lines[at] ?? "";
    const isFirst = entries.length === 0;
    if (!isFirst) addBoundary(structure, source);
    let column = isFirst ? from.column : 0;
    if (column === 0 && strip > 0) {
      column = afterIndent(source, strip);
      if (structure.fence === undefined && !isBlank(source)) strip = Math.min(strip, indentOf(source));
    }
    const shown = source.slice(column);
    const next = after(isFirst && from.column > 0 ? shown : source, structure);
    const cost = measure(shown) + (isFirst ? 0 : 1);
    const entry = { start: text.length + (isFirst ? 0 : 1), line: at, column, before: structure };
    const glue = isFirst ? "" : "\n";
    if (cost + measure(closingOf(next)) > left) {
      const beginning = left - (isFirst ? 0 : 1) - measure(closingOf(structure));
      const fits = isFirst || beginning > 0 ? fittingHead(shown, beginning, measure) : 0;
      isWhole = false;
      if (fits > 0) {
        entries.push({ ...entry, text: shown.slice(0, fits) });
        text += glue + shown.slice(0, fits);
      }
      break;
    }
    entries.push({ ...entry, text: shown });
    text += glue + shown;
    left -= cost;
    structure = next;
    at++;
  }

  const inside = (entry: Entry, length: number): Cut => ({
    end: entry.start + length,
    next: { line: entry.line, column: entry.column + length, structure: entry.before, strip },
  });

  /** What follows, for the ends of what begins in the window. */
  function ahead(): string {
    const last = entries.at(-1);
    if (isWhole || last === undefined) return "";
    const end = last.column + last.text.length;
    return (lines[last.line] ?? "").slice(end, end + FAR);
  }

  return {
    text,
    opening,
    isLast: isWhole,
    structureAtEnd: structure,
    lineCuts: { blank, line, code, bad },

    innerCut(kind) {
      covered ??= inlineSpans(text + ahead());
      let any: Cut | undefined;
      for (const entry of entries.toReversed()) {
        const source = (lines[entry.line] ?? "").slice(entry.column);
        const isCode = entry.before.fence !== undefined;
        const marks = LEADING_MARKS.exec(entry.text)?.[0].length ?? 0;
        for (const length of cutsWithin(entry.text, kind)) {
          if (length >= source.length || length <= marks) continue;
          const cut = inside(entry, length);
          any ??= cut;
          const isClean = covered[cut.end] === 0 && !looksLikeBlock(source.slice(length, length + 12));
          if (isCode || isClean) return { clean: cut, any };
        }
      }
      return { clean: undefined, any };
    },

    hardCut() {
      const last = entries.at(-1) as Entry;
      return inside(last, last.text.length);
    },
  };
}

/** What comes after a cut: blank lines, and the end of a fence that was closed at the cut, say nothing more. */
export function skipEmpty(lines: readonly string[], position: Position): Position {
  let { line, column, structure, strip } = position;
  const rest = lines[line] ?? "";
  if (column > 0 && structure.fence === undefined) column += rest.slice(column).search(/\S|$/);
  if (column > 0 && column >= rest.length) {
    line++;
    column = 0;
    strip = structure.fence?.indent ?? 0;
  }
  for (; column === 0 && line < lines.length; line++) {
    const source = lines[line] ?? "";
    const isEnd = structure.fence !== undefined && closesFence(source, structure.fence);
    if (!isEnd && !isBlank(source)) break;
    structure = after(source, structure);
    if (structure.fence === undefined) strip = structure.isInList ? indentOf(lines[line + 1] ?? "") : 0;
  }
  return { line, column, structure, strip };
}

/** Cuts Markdown into pieces that a platform takes: all of it, in order, each readable on its own. */

import { isVisible, stripControls, wellFormed } from "../text.ts";
import type { Measure } from "./measures.ts";
import { plain } from "./structure.ts";
import { type Cut, closingOf, openWindow, type Position, skipEmpty, type Window } from "./window.ts";

export interface SplitOptions {
  /** The longest piece, as `measure` counts. */
  readonly limit: number;
  readonly measure: Measure;
  /** What the platform is sent in place of the Markdown. It has to fit too. */
  readonly render?: (markdown: string) => string;
}

export interface Piece {
  readonly markdown: string;
  /** Rendered, if there is something to render with. */
  readonly text: string;
}

/** A parser's time may grow with the square of what it gets. */
const LONGEST_RENDERED = 8 * 1024;

/** What no platform takes, and nobody sees. */
function cleaned(text: string): string {
  return wellFormed(stripControls(text.replace(/\r\n?|[\u2028\u2029\x85]/g, "\n")));
}

function last(cuts: readonly Cut[], from: number): Cut | undefined {
  const cut = cuts.at(-1);
  return cut !== undefined && cut.end > from ? cut : undefined;
}

/** The best place: a good one in the second half, else any that harms nothing, else the last that there is. */
function chooseCut(window: Window): Cut {
  const { blank, line, code, bad } = window.lineCuts;
  const half = window.text.length / 2;
  const lineCut = last(blank, half) ?? last(line, half) ?? last(code, half);
  if (lineCut !== undefined) return lineCut;
  const isFar = (cut: Cut | undefined) => cut !== undefined && cut.end > half;
  const sentence = window.innerCut("sentence");
  if (isFar(sentence.clean)) return sentence.clean as Cut;
  const space = window.innerCut("space");
  if (isFar(space.clean)) return space.clean as Cut;
  return (
    last(blank, 0) ??
    last(line, 0) ??
    last(code, 0) ??
    space.clean ??
    (isFar(space.any) ? space.any : undefined) ??
    last(bad, 0) ??
    space.any ??
    window.hardCut()
  );
}

interface Taken {
  readonly markdown: string;
  readonly next: Position | undefined;
}

function take(window: Window): Taken {
  if (window.isLast) {
    const text = window.text.trimEnd();
    return { markdown: window.opening + text + closingOf(window.structureAtEnd), next: undefined };
  }
  const { end, next } = chooseCut(window);
  const text = window.text.slice(0, end).trimEnd();
  return { markdown: window.opening + text + closingOf(next.structure), next };
}

export function* pieces(text: string, { limit, measure, render }: SplitOptions): Generator<Piece> {
  const lines = cleaned(text).split("\n");
  const most = render === undefined ? limit : Math.min(limit, LONGEST_RENDERED);
  /** How much Markdown fits, by what the piece before taught. */
  let room = most;
  let position: Position | undefined = skipEmpty(lines, { line: 0, column: 0, structure: plain, strip: 0 });

  function cut(begin: Position): Piece & Pick<Taken, "next"> {
    let from = begin;
    let hasShrunk = false;
    for (;;) {
      const { markdown, next } = take(openWindow(lines, from, room, measure));
      const rendered = render?.(markdown) ?? markdown;
      const source = measure(markdown);
      const size = Math.max(source, measure(rendered));
      const fitting = Math.floor((source * limit) / size);
      if (size > limit && room > 1) {
        hasShrunk = true;
        room = Math.min(room - 1, Math.max(1, Math.floor(fitting * 0.97)));
      } else if (size > limit && from.structure.fence !== undefined) {
        // Not even one character of code fits beside its own markup: then it is better no code.
        from = { ...from, structure: plain };
        room = most;
      } else if (size < limit / 2 && room < most / 2 && next !== undefined && !hasShrunk) {
        room = Math.min(most, room * 2);
      } else {
        room = Math.min(most, Math.max(room, fitting));
        return { markdown, text: rendered, next };
      }
    }
  }

  while (position !== undefined && position.line < lines.length) {
    const { next, ...piece } = cut(position);
    if (isVisible(piece.markdown) && isVisible(piece.text)) yield piece;
    position = next && skipEmpty(lines, next);
  }
}

/** The pieces in order. Nothing is lost or repeated, and what cannot be seen is no piece. */
export function splitMarkdown(text: string, options: SplitOptions): readonly Piece[] {
  return [...pieces(text, options)];
}

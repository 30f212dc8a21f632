/** The part of a text in which most of what was searched for stands together, as one line. */

import { head, stripControls } from "../../lib/text.ts";
import { fold } from "./fold.ts";
import { countsOf, placesOf, type Query } from "./words.ts";

const LENGTH = 240;
/** Of a longer text the best part of this length is found first, so that not all of it is looked at closely. */
const PART = 4_000;
/** So far is gone from where a cut would fall to a blank, so that no word is cut. */
const TO_BLANK = 24;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** A place in the text, not in what it was folded to. */
interface Found {
  readonly at: number;
  readonly end: number;
  readonly word: number;
  readonly worth: number;
}

export interface ExcerptOptions {
  readonly query: Query;
  /** How much each of its words says. */
  readonly weights: readonly number[];
  /** Takes secrets out of the text, before it is cut. */
  readonly mask: (text: string) => string;
}

/** About 240 characters. `undefined` when what was found was part of a secret. */
export function excerptOf(text: string, { query, weights, mask }: ExcerptOptions): string | undefined {
  const bare = stripControls(text.toWellFormed()).replace(/\s+/g, " ").trim();
  const line = mask(bare);
  const part = bestPart(line, query, weights);
  const found = placesIn(line.slice(part.start, part.end), query, weights);
  // What steers terminals is gone, and the word may have stood around it.
  if (found.length === 0) return line === bare ? cut(line, { from: 0, to: 0 }) : undefined;
  const { at, end } = densest(found);
  return cut(line, { from: part.start + at, to: part.start + end });
}

function bestPart(line: string, query: Query, weights: readonly number[]): { start: number; end: number } {
  let best = { start: 0, end: Math.min(line.length, PART), value: 0 };
  if (line.length <= PART) return best;
  for (let start = 0; start < line.length; start += PART - LENGTH) {
    const end = Math.min(line.length, start + PART);
    const counts = countsOf(query, line.slice(start, end));
    const value = counts.reduce((sum, count, word) => sum + (weights[word] ?? 0) * Math.min(1, count), 0);
    if (value > best.value) best = { start, end, value };
  }
  return best;
}

/** Folded text, and for each unit of it where its character begins and ends in the text. */
function foldWithPlaces(text: string) {
  const begins: number[] = [];
  const ends: number[] = [];
  let folded = "";
  for (const { segment, index } of graphemes.segment(text)) {
    const part = fold(segment);
    for (let unit = 0; unit < part.length; unit++) {
      begins.push(index);
      ends.push(index + segment.length);
    }
    folded += part;
  }
  return { folded, begins, ends };
}

function placesIn(text: string, query: Query, weights: readonly number[]): Found[] {
  const isPlain = query.searchable(text) === text;
  const { folded, begins, ends } = isPlain ? { folded: text, begins: [], ends: [] } : foldWithPlaces(text);
  const found = query.words.flatMap((word, index) =>
    [...placesOf(word, folded)].map(({ at, end, worth }) => ({
      at: begins[at] ?? at,
      end: ends[end - 1] ?? end,
      word: index,
      worth: worth * (weights[index] ?? 0),
    })),
  );
  return found.sort((a, b) => a.at - b.at);
}

/** The stretch that an excerpt has room for whose words say most, each counted once. */
function densest(found: readonly Found[]): { at: number; end: number } {
  let best = { at: 0, end: 0, value: 0 };
  for (const [index, { at }] of found.entries()) {
    const worths = new Map<number, number>();
    let end = at;
    for (let next = index; next < found.length; next++) {
      const place = found[next];
      if (place === undefined || (place.end - at > LENGTH && next > index)) break;
      worths.set(place.word, Math.max(worths.get(place.word) ?? 0, place.worth));
      end = Math.max(end, place.end);
    }
    const value = worths.values().reduce((sum, worth) => sum + worth, 0);
    if (value > best.value) best = { at, end, value };
  }
  return best;
}

/** `line` around a stretch of it, between whole words where that costs little, and between whole characters always. */
function cut(line: string, { from, to }: { from: number; to: number }): string {
  if (line.length <= LENGTH) return line;
  const room = Math.max(0, LENGTH - (to - from));
  const latest = Math.max(0, line.length - LENGTH);
  let start = Math.max(0, Math.min(latest, from - Math.floor(room / 2)));
  let end = Math.min(line.length, start + LENGTH);
  if (start > 0) {
    const blank = line.indexOf(" ", start);
    start = blank >= 0 && blank - start <= TO_BLANK && blank < from ? blank + 1 : characterEnd(line, start);
  }
  if (end < line.length) {
    const blank = line.lastIndexOf(" ", end);
    end = end - blank <= TO_BLANK && blank >= to ? blank : characterBegin(line, end);
  }
  // One that is longer than all the room there is.
  const shown = start < end ? line.slice(start, end) : head(line.slice(from), LENGTH);
  return `${start > 0 ? "…" : ""}${shown.trim()}${end < line.length ? "…" : ""}`.toWellFormed();
}

/** `at` itself where a character begins, else where the next one does. */
function characterEnd(line: string, at: number): number {
  const { index, segment } = graphemes.segment(line).containing(at) ?? { index: at, segment: "" };
  return index === at ? at : index + segment.length;
}

function characterBegin(line: string, at: number): number {
  return graphemes.segment(line).containing(at)?.index ?? at;
}

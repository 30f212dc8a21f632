/** The words of a query, in whatever language, and where they stand in a text. */

import { UserError } from "../../core/errors.ts";
import { head } from "../../lib/text.ts";
import { type Alphabet, fold } from "./fold.ts";

const LONGEST_QUERY = 500;
const MOST_WORDS = 32;

/** Scripts that put no space between words, and pictures: what stands beside such a character says nothing. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Extended_Pictographic}]/u;
const LETTER = /[\p{L}\p{N}\p{M}]/u;
const PICTURE = /\p{Extended_Pictographic}/u;

/** What a place is worth that begins with the word and goes on, and one in the middle of another word. */
const BEGINNING = 0.4;
const INSIDE = 0.1;
/** Words of fewer letters stand at the beginning of too many others, and inside of even more. */
const SHORTEST_BEGINNING = 3;
const SHORTEST_INSIDE = 4;
/** Each stands for two or three letters, and is mostly followed by others that belong to the sentence. */
const SYLLABLE = /\p{Script=Hangul}/gu;

/** More places of a word add nothing to what a text is worth. */
const ENOUGH = 20;

export interface Word {
  readonly folded: string;
  /** Finds the word in text that is plain or folded. It remembers where it is, so that each search needs its own. */
  readonly pattern: RegExp;
  readonly isUnspaced: boolean;
  readonly letters: number;
}

export interface Query {
  readonly words: readonly Word[];
  /** Whether a word can be in `text`, which may be JSON. Never wrong when it says no. */
  mayMatch(text: string): boolean;
  /** `text` so that the words' patterns hold in it: the same when it is plain. */
  searchable(text: string): string;
}

const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/** Words with nothing between them, as in Chinese, count by themselves and together: who has all in order means this. */
function wordsOf(text: string): readonly string[] {
  const found = new Set<string>();
  let run: string[] = [];
  const endRun = () => {
    if (run.length > 1) found.add(run.join(""));
    run = [];
  };
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    if (isWordLike !== true && !LETTER.test(segment) && !PICTURE.test(segment)) {
      endRun();
      continue;
    }
    found.add(segment);
    run.push(segment);
  }
  endRun();
  return [...found].slice(0, MOST_WORDS);
}

/** The one letter of everyday text that folds to two, so that German text need not be folded. */
function spellOut(text: string): string {
  return text.includes("ß") ? text.replaceAll("ß", "ss") : text;
}

/** Throws a `UserError` when there is no word in it. */
export function parseQuery(query: string, { unusual, pattern }: Alphabet): Query {
  const words = wordsOf(fold(head(query.toWellFormed(), LONGEST_QUERY))).map((folded) => ({
    folded,
    pattern: new RegExp(pattern(folded), "g"),
    isUnspaced: UNSPACED.test(folded),
    letters: folded.length + 2 * (folded.match(SYLLABLE)?.length ?? 0),
  }));
  if (words.length === 0) throw new UserError("Cannot search: there is no word in the query");
  const anyWord = new RegExp(words.map(({ folded }) => pattern(folded)).join("|"));
  const mustBeFolded = new RegExp(unusual);
  const mayBeHidden = new RegExp(`${unusual}|\\\\u`);
  return {
    words,
    mayMatch(text) {
      const spelt = spellOut(text);
      return anyWord.test(spelt) || mayBeHidden.test(spelt);
    },
    searchable(text) {
      const spelt = spellOut(text);
      return mustBeFolded.test(spelt) ? fold(text) : spelt;
    },
  };
}

/** Whether the character that ends or begins at a place belongs to the word there. */
function isWordCharacter(char: string): boolean {
  const code = char.charCodeAt(0);
  if (code < 0x80) return (code | 0x20) >= 0x61 ? (code | 0x20) <= 0x7a : code >= 0x30 && code <= 0x39;
  return LETTER.test(char) && !UNSPACED.test(char);
}

function characterBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low <= 0xdfff ? text.slice(Math.max(0, at - 2), at) : text.charAt(at - 1);
}

function worth({ folded, isUnspaced, letters }: Word, text: string, at: number): number {
  if (isUnspaced) return 1;
  const end = at + folded.length;
  if (at > 0 && isWordCharacter(characterBefore(text, at))) return letters < SHORTEST_INSIDE ? 0 : INSIDE;
  const goesOn = end < text.length && isWordCharacter(String.fromCodePoint(text.codePointAt(end) ?? 0));
  if (!goesOn) return 1;
  return letters < SHORTEST_BEGINNING ? 0 : BEGINNING;
}

/** A place of a word in a text: whole words are worth 1, others less. */
export interface WordPlace {
  readonly at: number;
  readonly end: number;
  readonly worth: number;
}

/** The places of `word` in a searchable text, first one first. */
export function* placesOf(word: Word, text: string): Generator<WordPlace> {
  const { pattern, folded } = word;
  pattern.lastIndex = 0;
  while (pattern.test(text)) {
    const end = pattern.lastIndex;
    const at = end - folded.length;
    const value = worth(word, text, at);
    if (value > 0) yield { at, end, worth: value };
  }
}

/** How often a word is in a searchable text, where places that are worth less count less. */
function countOf(word: Word, text: string): number {
  let count = 0;
  for (const place of placesOf(word, text)) {
    count += place.worth;
    if (count >= ENOUGH) break;
  }
  return count;
}

/** How often each word of the query is in `text`. */
export function countsOf({ words, searchable }: Query, text: string): readonly number[] {
  const folded = searchable(text);
  return words.map((word) => countOf(word, folded));
}

/** Which of the passages that match are the best: BM25, with what it needs to know of all of them counted on the way. */

/** The usual ones: how soon more of the same word adds nothing, and how much long passages are held back. */
const K1 = 1.2;
const B = 0.75;

/** So many are kept, and at most `MOST_KEPT` until the worst are forgotten. */
const KEPT = 2_048;
const MOST_KEPT = 4 * KEPT;

/** Scores that differ by less than a hundredth of the best count as equal, so that what is newer comes first. */
const STEPS = 100;

/** A passage that matches. */
interface Match {
  /** How often each word of the query is in it. */
  readonly counts: readonly number[];
  /** In characters, and that of the line that it came from. */
  readonly length: number;
  readonly lineLength: number;
}

export interface Found<Place> {
  readonly place: Place;
  /** Milliseconds since the epoch: infinite for what is always so, and below all times where nobody knows. */
  readonly at: number;
}

type Score = (match: Match) => number;

interface Kept<Place> {
  readonly match: Match;
  readonly found: Found<Place>;
  readonly order: number;
  score: number;
}

export interface Ranking<Place> {
  /** Call for each line that is looked at, whether or not something in it matches, with its length. */
  sawLine(length: number): void;
  /** `find` is called only for what may be among the best. */
  add(match: Match, find: () => Found<Place>): void;
  /** The best first. */
  best(): readonly Found<Place>[];
  /** How much it says when a word is in a passage: more for the rare ones. */
  weights(): readonly number[];
}

/**
 * What was forgotten before the end was judged by how rare each word had been until then. How many passages there are,
 * and how long they are, is estimated: from the lines, of which only those that may match are parsed, and from the
 * share of such lines that is text.
 */
export function createRanking<Place>(words: number): Ranking<Place> {
  let lines = 0;
  let lineCharacters = 0;
  let matchedCharacters = 0;
  let matchedLineCharacters = 0;
  // A passage that has only the beginning of a word counts as a part of one.
  const passagesWith: number[] = Array(words).fill(0);
  let kept: Kept<Place>[] = [];
  let score: Score | undefined;
  let worst = 0;

  function weights(): readonly number[] {
    return passagesWith.map((count) => Math.log(1 + (Math.max(0, lines - count) + 0.5) / (count + 0.5)));
  }

  /** By what is known now. */
  function createScore(): Score {
    const weight = weights();
    const average = (lineCharacters / lines) * (matchedCharacters / matchedLineCharacters);
    return ({ counts, length }) => {
      const held = K1 * (1 - B + (B * length) / average);
      let sum = 0;
      let present = 0;
      for (const [word, count] of counts.entries()) {
        sum += ((weight[word] ?? 0) * count * (K1 + 1)) / (count + held);
        present += Math.min(1, count);
      }
      // Who has all of the words comes before who has only the rarest.
      return sum * (1 + present / words);
    };
  }

  /** The best first, and among equals the newest: by time, and where none says so by their order in the file. */
  function sort(scoreOf: Score): void {
    for (const one of kept) one.score = scoreOf(one.match);
    const step = kept.reduce((most, one) => Math.max(most, one.score), 0) / STEPS;
    const rank = ({ score: value }: Kept<Place>) => Math.round(value / step);
    kept.sort((a, b) => rank(b) - rank(a) || compare(b.found.at, a.found.at) || b.order - a.order);
  }

  return {
    weights,
    sawLine(length) {
      lines++;
      lineCharacters += length;
    },
    add(match, find) {
      for (const [word, count] of match.counts.entries())
        passagesWith[word] = (passagesWith[word] ?? 0) + Math.min(1, count);
      matchedCharacters += match.length;
      matchedLineCharacters += match.lineLength;
      if (score !== undefined && score(match) < worst) return;
      kept.push({ match, found: find(), order: lines, score: 0 });
      if (kept.length < MOST_KEPT) return;
      score = createScore();
      sort(score);
      kept = kept.slice(0, KEPT);
      worst = kept.reduce((least, one) => Math.min(least, one.score), Number.POSITIVE_INFINITY);
    },
    best() {
      sort(createScore());
      return kept.map(({ found }) => found);
    },
  };
}

/** Of numbers that may be infinite. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

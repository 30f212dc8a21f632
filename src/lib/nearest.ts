/** The word somebody probably meant. */

/** Letters to add, drop, replace or swap with their neighbour (optimal string alignment). */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? at(i - 2, j - 2) + 1 : replaced;
      rows[i]?.push(Math.min(replaced, swapped, at(i - 1, j) + 1, at(i, j - 1) + 1));
    }
  }
  return at(a.length, b.length);
}

/** The candidates closest to `word`, case aside, if they are close enough to be a slip: a third of its letters. */
export function nearestFew(word: string, candidates: Iterable<string>, most: number): readonly string[] {
  const wanted = word.slice(0, 64).toLowerCase();
  const furthest = Math.max(1, Math.floor(wanted.length / 3));
  return [...candidates]
    .filter(({ length }) => Math.abs(length - wanted.length) <= furthest)
    .map((candidate) => ({ candidate, away: distance(wanted, candidate.toLowerCase()) }))
    .filter(({ away }) => away <= furthest)
    .sort((a, b) => a.away - b.away)
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** The closest of them, the first of several. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  return nearestFew(word, candidates, 1)[0];
}

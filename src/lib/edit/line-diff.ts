/** Two short lists of lines, side by side. */

export interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly line: string;
}

/** By the longest common subsequence; the work is the product of the lengths, so both must be short. */
export function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const common: number[][] = Array.from({ length: before.length + 1 }, () => Array(after.length + 1).fill(0));
  const at = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    const row = common[i] ?? [];
    for (let j = after.length - 1; j >= 0; j--) {
      row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const diff: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const removed = before[i];
    const added = after[j];
    if (removed !== undefined && removed === added) {
      diff.push({ sign: " ", line: removed });
      i++;
      j++;
    } else if (removed !== undefined && (added === undefined || at(i + 1, j) >= at(i, j + 1))) {
      diff.push({ sign: "-", line: removed });
      i++;
    } else {
      diff.push({ sign: "+", line: added ?? "" });
      j++;
    }
  }
  return diff;
}

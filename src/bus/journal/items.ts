/** What waits to be written to a journal, in order. */

interface Waiting {
  /** Empty where only what came before must be on disk. */
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export type Item =
  /** Resolves when it is on disk. `voided` is the line that takes it back. */
  | (Waiting & { readonly kind: "put"; readonly voided: string | undefined })
  /** Resolves when it is written. */
  | (Waiting & { readonly kind: "note" })
  /** Nothing is written: it resolves in its turn. */
  | { readonly kind: "turn"; readonly resolve: () => void };

export function linesOf(items: readonly Item[]): string[] {
  return items.flatMap((item) => (item.kind === "turn" || item.line === "" ? [] : [item.line]));
}

/** How many of the first together reach `characters`, if they do. */
export function countUpTo(items: readonly Item[], characters: number): number {
  let count = 0;
  for (let size = 0; count < items.length && size < characters; count++) {
    const item = items[count];
    if (item !== undefined && item.kind !== "turn") size += item.line.length;
  }
  return count;
}

/** What must still be written of items of which nobody knows whether they were. */
export function afterDoubt(items: readonly Item[]): Item[] {
  return items.flatMap((item): Item[] => {
    if (item.kind === "note") return [item];
    if (item.kind === "turn" || item.voided === undefined) return [];
    // Nobody waits for it.
    return [{ kind: "note", line: item.voided, resolve: () => {}, reject: () => {} }];
  });
}

/** Tells those who put something that it failed. Notes are still to be written. */
export function refuse(items: readonly Item[], error: unknown): void {
  for (const item of items) {
    if (item.kind === "put") item.reject(error);
    else if (item.kind === "turn") item.resolve();
  }
}

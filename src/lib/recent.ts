/** Keeps one value for each key, for the keys that were asked for last. */

export interface Recent<Value> {
  /** The value of `key`, made when there is none. */
  of(key: string, make: () => Value): Value;
  /** Forgets `value`, unless another has taken its place. */
  drop(key: string, value: Value): void;
}

export interface RecentOptions {
  /** Keys that are kept. */
  readonly most: number;
  /** A key that never makes room for others. */
  readonly pinned?: string;
}

export function createRecent<Value>({ most, pinned }: RecentOptions): Recent<Value> {
  /** The one that was not asked for for longest comes first. */
  const values = new Map<string, { readonly value: Value }>();

  function makeRoom(): void {
    for (const key of values.keys()) {
      if (values.size <= most) return;
      if (key !== pinned) values.delete(key);
    }
  }

  return {
    of(key, make) {
      const entry = values.get(key) ?? { value: make() };
      values.delete(key);
      values.set(key, entry);
      makeRoom();
      return entry.value;
    },
    drop(key, value) {
      if (values.get(key)?.value === value) values.delete(key);
    },
  };
}

/** The same promise for everybody. One that was rejected is forgotten, and made anew for the next who asks. */
export function promiseOf<T>(recent: Recent<Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  return recent.of(key, () => {
    const made = make();
    made.catch(() => recent.drop(key, made));
    return made;
  });
}

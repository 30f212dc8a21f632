/** Lanes: tasks with the same key run one after the other, others side by side. */

export interface Lanes {
  /** Settles as the task does. The task starts when those before it in its lane, and the limit, allow. */
  run<T>(key: string, task: (aside: Aside) => Promise<T>): Promise<T>;
  /** Resolves when no task is left in any lane. */
  idle(): Promise<void>;
}

/**
 * Gives the task's place to others while `wait` goes on, and keeps its lane. It goes on behind that at once, so that
 * for a time more can run than the limit says: nobody who has waited has to wait again.
 */
export type Aside = <T>(wait: () => Promise<T>) => Promise<T>;

/** At most `limit` tasks run at once over all lanes. An empty lane costs nothing. */
export function createLanes({ limit }: { limit: number }): Lanes {
  const ends = new Map<string, Promise<void>>();
  const waiting: (() => void)[] = [];
  let running = 0;

  async function enter(): Promise<void> {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
  }

  // The place is handed to the next in line rather than freed, so that nobody slips in between.
  function leave(): void {
    const next = running > limit ? undefined : waiting.shift();
    if (next) next();
    else running--;
  }

  /** For one task, which may wait for several things at once. */
  function createAside(): Aside {
    let waits = 0;
    return async (wait) => {
      if (waits++ === 0) leave();
      try {
        return await wait();
      } finally {
        if (--waits === 0) running++;
      }
    };
  }

  return {
    run(key, task) {
      const before = ends.get(key) ?? Promise.resolve();
      const result = before.then(async () => {
        await enter();
        try {
          return await task(createAside());
        } finally {
          leave();
        }
      });
      const end = result.then(
        () => {},
        () => {},
      );
      ends.set(key, end);
      end.then(() => {
        if (ends.get(key) === end) ends.delete(key);
      });
      return result;
    },

    async idle() {
      while (ends.size > 0) await Promise.all(ends.values());
    },
  };
}

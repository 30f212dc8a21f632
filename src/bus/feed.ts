/** What waits to be handed out, in order, to the one who takes it. */

export interface Feed<Item> {
  push(item: Item): void;
  /** One consumer only. Ends when `signal` aborts. */
  items(signal: AbortSignal): AsyncGenerator<Item>;
}

/** Room at the front of the list that is worth moving the rest for. */
const MOST_TAKEN = 1024;

export function createFeed<Item>(): Feed<Item> {
  let waiting: (Item | undefined)[] = [];
  /** Of `waiting`, handed out already: taking the first of a long list would move all others. */
  let taken = 0;
  let wake: (() => void) | undefined;
  let consumed = false;

  function shift(): Item | undefined {
    const item = waiting[taken];
    if (taken < waiting.length) waiting[taken++] = undefined;
    if (taken === waiting.length || (taken >= MOST_TAKEN && taken * 2 > waiting.length)) {
      waiting = waiting.slice(taken);
      taken = 0;
    }
    return item;
  }

  return {
    push(item) {
      waiting.push(item);
      wake?.();
    },
    async *items(signal) {
      if (consumed) throw new Error("The queue has a consumer already");
      consumed = true;
      const onAbort = () => wake?.();
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        while (!signal.aborted) {
          const item = shift();
          if (item !== undefined) yield item;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
  };
}

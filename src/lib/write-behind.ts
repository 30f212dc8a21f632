/** Writes entries behind everybody's back: whoever adds one neither waits nor fails, and what is lost is counted. */

import type { Clock, Log } from "../core/platform.ts";

export interface Batch<Entry> {
  readonly entries: readonly Entry[];
  /** How many were lost and are in no batch that was written so far. */
  readonly lost: number;
}

export interface WriteBehindOptions<Entry> {
  /** Calls `take` once, as late as it can, and writes what that gives. Rejects when it is not known what of it was written. */
  readonly write: (take: () => Batch<Entry>) => Promise<void>;
  /** What is written, for the log: `calls of tools`. */
  readonly what: string;
  /** Where to, for the log. */
  readonly path: string;
  readonly log: Log;
  readonly clock: Pick<Clock, "after">;
  /** How long an entry waits for others to be written with. Left out, it waits only for the write before. */
  readonly delayMs?: number;
  /** In the measure of both limits; 1 for each when left out. */
  readonly sizeOf?: (entry: Entry) => number;
  /** What may wait for a disk that does not answer. More is lost. */
  readonly mostWaiting: number;
  /** No batch goes on behind the entry that reaches it. */
  readonly mostInBatch?: number;
}

export interface WriteBehind<Entry> {
  /** Never throws and never waits. */
  add(entry: Entry): void;
  /** Resolves when all that was added is written or lost. Never rejects. */
  flush(): Promise<void>;
}

export function createWriteBehind<Entry>({
  write,
  what,
  path,
  log,
  clock,
  delayMs,
  sizeOf = () => 1,
  mostWaiting,
  mostInBatch = Number.POSITIVE_INFINITY,
}: WriteBehindOptions<Entry>): WriteBehind<Entry> {
  let waiting: Entry[] = [];
  let waitingSize = 0;
  let lost = 0;
  let writing: Promise<void> | undefined;
  let callOff: (() => void) | undefined;

  function lose(entries: number, error: unknown): void {
    if (lost === 0) log.warn(`Could not record ${what}`, { path, error });
    lost += entries;
  }

  function take(): Batch<Entry> {
    let size = 0;
    let count = 0;
    for (const entry of waiting) {
      if (size >= mostInBatch) break;
      size += sizeOf(entry);
      count++;
    }
    const entries = waiting.slice(0, count);
    waiting = waiting.slice(count);
    waitingSize -= size;
    return { entries, lost };
  }

  async function writeBatch(): Promise<void> {
    let taken: Batch<Entry> | undefined;
    try {
      await write(() => {
        taken ??= take();
        return taken;
      });
    } catch (error) {
      // Without a batch the same entries would be tried again for ever.
      lose((taken ?? take()).entries.length, error);
      return;
    }
    const told = taken?.lost ?? 0;
    // More may have been lost since.
    lost -= told;
    if (told > 0) log.info(`Could record ${what} again`, { path, lost: told });
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) await writeBatch();
  }

  function start(): Promise<void> {
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  function startLater(ms: number): void {
    callOff ??= clock.after(ms, () => {
      callOff = undefined;
      void start();
    });
  }

  return {
    add(entry) {
      const size = sizeOf(entry);
      if (waitingSize + size <= mostWaiting) {
        waiting.push(entry);
        waitingSize += size;
      } else lose(1, "the disk does not answer");
      if (delayMs === undefined) void start();
      else startLater(delayMs);
    },
    async flush() {
      callOff?.();
      callOff = undefined;
      do await start();
      while (waiting.length > 0);
    },
  };
}

/** When a journal is made smaller: in the background, one run at a time, and only when that is worth it. */

import type { Log } from "../../core/platform.ts";

export interface CompactionOptions {
  readonly log: Log;
  readonly path: string;
  /** Smaller files are left alone. */
  readonly minBytes: number;
  readonly bytes: () => number;
  /** Messages whose records a smaller file would still have. */
  readonly live: () => number;
  /** Resolves to whether the file is smaller now. */
  readonly compact: () => Promise<boolean>;
}

export interface Compaction {
  /** A message was put. */
  onPut(): void;
  /** Less may be live than before. */
  onDone(): void;
  /** Resolves when none is under way. */
  settled(): Promise<void>;
}

/** Messages that must be done for each one that is not. */
const DONE_FOR_EACH_LIVE = 3;

/** `messages` are in the file already. */
export function createCompaction(options: CompactionOptions, messages: number): Compaction {
  const { log, path, minBytes, bytes, live, compact } = options;
  let inFile = messages;
  let running: Promise<void> | undefined;
  /** After a failure it is not tried again before the file has grown as much again. */
  let notBefore = minBytes;

  function isWorthIt(): boolean {
    return bytes() >= notBefore && inFile - live() > live() * DONE_FOR_EACH_LIVE;
  }

  async function run(): Promise<void> {
    const before = bytes();
    try {
      if (await compact()) {
        inFile = live();
        notBefore = minBytes;
        return;
      }
    } catch (error) {
      log.warn("Could not make a journal smaller", { path, error });
    }
    notBefore = before + minBytes;
  }

  return {
    onPut() {
      inFile++;
    },
    onDone() {
      if (running !== undefined || !isWorthIt()) return;
      running = run().finally(() => {
        running = undefined;
      });
    },
    settled: async () => running,
  };
}

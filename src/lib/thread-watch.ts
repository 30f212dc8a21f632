/** Finds out that a thread takes too much memory, or hears no more. */

import type { Clock } from "../core/platform.ts";

export interface ThreadWatch {
  /** The thread answered a ping; `bytes` is the memory of its own. */
  heard(bytes: number): void;
  stop(): void;
}

interface WatchOptions {
  readonly clock: Pick<Clock, "after">;
  /** What the whole process has, in bytes. */
  readonly memory: () => number;
  /** By so many bytes may it grow. */
  readonly mostGrowth: number;
  readonly onTooMuch: () => void;
}

const DOCUMENT_LOOK_MS = 100;

/** For jobs of seconds, of which few run at once: whatever the process grows by meanwhile is theirs. */
export function watchGrowth({ clock, memory, mostGrowth, onTooMuch }: WatchOptions): ThreadWatch {
  const before = memory();
  let stop = clock.after(DOCUMENT_LOOK_MS, look);
  function look(): void {
    if (memory() - before > mostGrowth) onTooMuch();
    else stop = clock.after(DOCUMENT_LOOK_MS, look);
  }
  return { heard() {}, stop: () => stop() };
}

const LOOK_MS = 1_000;
/** In looks, and not by the clock: after a machine has slept the answer gets its time like any other. */
const PING_AFTER_LOOKS = 10;
const DEAF_AFTER_LOOKS = 60;
const GROWTH_AFTER_LOOKS = 3;

/**
 * For jobs of minutes beside others, where the process may grow for any reason. A thread is asked for its own memory
 * every 10 seconds, and at once when the process has grown much since it last answered. It has too much when it says so, or
 * when it goes on growing the process without saying anything, as one does that only takes and takes.
 */
export function watchPulse({
  ping,
  onDeaf,
  ...options
}: WatchOptions & { readonly ping: () => void; readonly onDeaf: () => void }): ThreadWatch {
  const { clock, memory, mostGrowth, onTooMuch } = options;
  let before = memory();
  let looks = 0;
  let isAsked = false;
  let isOver = false;
  let callOff = clock.after(LOOK_MS, look);

  function end(tell: () => void): void {
    stop();
    tell();
  }

  function look(): void {
    callOff = clock.after(LOOK_MS, look);
    looks++;
    const hasGrown = memory() - before > mostGrowth;
    if (!isAsked && (hasGrown || looks >= PING_AFTER_LOOKS)) {
      isAsked = true;
      looks = 0;
      ping();
    } else if (isAsked && hasGrown && looks >= GROWTH_AFTER_LOOKS) end(onTooMuch);
    else if (isAsked && looks >= DEAF_AFTER_LOOKS) end(onDeaf);
  }

  function stop(): void {
    isOver = true;
    callOff();
  }

  return {
    stop,
    heard(bytes) {
      if (isOver) return;
      isAsked = false;
      looks = 0;
      before = memory();
      if (bytes > mostGrowth) end(onTooMuch);
    },
  };
}

/** Changes a file as the only nanobot that does. */

import { UserError } from "../core/errors.ts";
import type { Clock, Locks } from "../core/platform.ts";
import { limitSignal, never } from "./abort.ts";
import { quote } from "./file-error.ts";

/** Whoever has it writes one small file. */
const LONGEST_WAIT_MS = 10_000;

export interface AloneOptions {
  readonly locks: Pick<Locks, "acquire">;
  readonly clock: Pick<Clock, "after">;
  /** Of the lock. */
  readonly name: string;
  /** For the error. */
  readonly path: string;
}

/** A function that does work under the lock. It rejects with a `UserError` when another process keeps that for long. */
export function createAlone({ locks, clock, name, path }: AloneOptions) {
  const reason = () =>
    new UserError(`Cannot change ${quote(path)}: another nanobot is at it`, { exitCode: 1 });
  return async <T>(work: () => Promise<T>): Promise<T> => {
    const limit = limitSignal(never, { clock, ms: LONGEST_WAIT_MS, reason });
    try {
      const lock = await locks.acquire(name, limit.signal);
      try {
        return await work();
      } finally {
        await lock.release();
      }
    } finally {
      limit.release();
    }
  };
}

/** One file open for appending, whose syncs are shared: a burst of records costs two syncs, not one each. */

import { closeSync, fdatasync, write } from "node:fs";
import type { AppendFile } from "../core/platform.ts";

/** What is needed of an open file; a `FileHandle` has it. */
export interface AppendHandle {
  write(bytes: Uint8Array, offset: number, length: number): Promise<{ readonly bytesWritten: number }>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/** A descriptor as a handle: opening one is a few microseconds, opening a `FileHandle` a tenth of a millisecond. */
export function handleOf(descriptor: number): AppendHandle {
  return {
    write: (bytes, offset, length) =>
      new Promise((resolve, reject) => {
        write(descriptor, bytes, offset, length, null, (error, bytesWritten) => {
          if (error) reject(error);
          else resolve({ bytesWritten });
        });
      }),
    datasync: () =>
      new Promise((resolve, reject) => {
        fdatasync(descriptor, (error) => {
          if (error) reject(error);
          else resolve();
        });
      }),
    close: async () => closeSync(descriptor),
  };
}

export function createAppendFile(handle: AppendHandle): AppendFile {
  let written: Promise<void> = Promise.resolve();
  let syncing: Promise<void> = Promise.resolve();
  let nextSync: Promise<void> | undefined;

  async function write(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await handle.write(bytes, done, bytes.length - done);
      done += bytesWritten;
    }
  }

  return {
    append(bytes) {
      // After a failed write nothing more is written, so that a torn record stays the last one. The
      // chain also hands its error to whoever comes later.
      written = written.then(() => write(bytes));
      return written;
    },
    sync() {
      // A failed sync is never retried: the system reports lost pages once and calls the file clean after.
      nextSync ??= syncing.then(() => {
        syncing = nextSync ?? Promise.resolve();
        nextSync = undefined;
        return written.then(() => handle.datasync());
      });
      return nextSync;
    },
    async close() {
      // Their callers have the errors of these; here they only must be over.
      await Promise.allSettled([written, syncing, nextSync]);
      await handle.close();
    },
  };
}

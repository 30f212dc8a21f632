/** A temporary folder for one test file, and what tests of files ask again and again. */

import { afterAll, expect } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Removed when the test file that asked for it is through. */
export function createTempFiles() {
  const folder = mkdtempSync(join(tmpdir(), "nanobot-"));
  let count = 0;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** A path of its own for each call, with nothing there. */
  function fresh(name = "file"): string {
    return join(folder, `${name}-${count++}`);
  }

  return {
    fresh,
    freshFolder(): string {
      const path = fresh("folder");
      mkdirSync(path);
      return path;
    },
    freshFifo(): string {
      const path = fresh("fifo");
      expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
      return path;
    },
  };
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The code of the error with which `work` rejects, else the reason as it is; undefined when it resolves. */
export async function failureCode(work: Promise<unknown>): Promise<unknown> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof Error && "code" in error ? error.code : error;
}

/** A temporary folder for one test file, and what tests of files ask again and again. */

import { afterAll, expect } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileSystem } from "../../src/core/platform.ts";
import type { PinnedFiles } from "../../src/core/tool.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createPinnedFiles } from "../../src/platform/pinned-files.ts";

/** Removed when the test file that asked for it is through. */
export function createTempFiles() {
  // Real, because the temp folder may itself be a link.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "nanobot-")));
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

/** What all file systems of ours must do alike. None of them is given a link. */
export const systems: readonly (readonly [string, Pick<FileSystem, keyof FileSystem & keyof PinnedFiles>])[] =
  [
    ["createFileSystem()", createFileSystem()],
    ["createPinnedFiles()", createPinnedFiles({ os: process.platform })],
    ["createPinnedFiles() without a guarantee", createPinnedFiles({ os: "other" })],
  ];

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

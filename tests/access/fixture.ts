/** What tests of access share: files that die, a source of bytes that counts, and where state lies. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import type { FileSystem, Locks } from "../../src/core/platform.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createLocks } from "../../src/platform/locks.ts";

export const realFiles: FileSystem = createFileSystem();

export function realLocks(workspace: string): Locks {
  return createLocks({ os: process.platform, folder: workspace });
}

/** Never the same twice in a test, and foreseeable. */
export function countingBytes(): (count: number) => Uint8Array {
  let next = 0;
  return (count) => {
    const number = next++;
    return Uint8Array.from({ length: count }, (_, at) => (number >> (5 * at)) & 31);
  };
}

export function statePath(workspace: string, name: string): string {
  return join(workspace, ".nanobot", name);
}

export function readState(workspace: string, name: string): string {
  return readFileSync(statePath(workspace, name), "utf8");
}

export function writeState(workspace: string, name: string, text: string | object): void {
  const path = statePath(workspace, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof text === "string" ? text : JSON.stringify(text));
}

/** Where in the k-th write the power goes: before it, or after it is on disk and before that is told. */
export type Moment = "before" | "after";

export interface MortalFiles extends FileSystem {
  /** Writes so far, those that failed included. */
  readonly writes: number;
  readonly isDead: boolean;
}

/** Real files whose process is killed at its write number `at`, counted from 1: nothing is written from then on. */
export function mortalFiles(at: number, moment: Moment): MortalFiles {
  let writes = 0;
  let isDead = false;
  const killed = () => new Error("killed");
  const mortal =
    <Args extends readonly unknown[]>(write: (...args: Args) => Promise<void>) =>
    async (...args: Args): Promise<void> => {
      if (isDead) throw killed();
      writes++;
      isDead = writes === at;
      if (isDead && moment === "before") throw killed();
      await write(...args);
      if (isDead) throw killed();
    };
  return {
    ...realFiles,
    replace: mortal(realFiles.replace),
    rename: mortal(realFiles.rename),
    makeFolder: mortal(realFiles.makeFolder),
    get writes() {
      return writes;
    },
    get isDead() {
      return isDead;
    },
  };
}

/** Files that cannot be read. */
export function unreadableFiles(code = "EIO"): FileSystem {
  const refuse = () => Promise.reject(Object.assign(new Error(`${code}: no`), { code }));
  return { ...realFiles, stat: refuse, read: refuse };
}

/** As much of a file system as the jobs need, in memory, for tests of a year. */

import type { FileStat, FileSystem } from "../../src/core/platform.ts";

interface MemoryFile {
  readonly bytes: Uint8Array;
  readonly stat: FileStat;
}

/** `now` in milliseconds since the epoch. */
export function createMemoryFiles(now: () => number) {
  const files = new Map<string, MemoryFile>();
  let inode = 0;
  let problem: Error | undefined;

  function put(path: string, bytes: Uint8Array, mode = 0o600): void {
    inode += 1;
    files.set(path, { bytes, stat: { kind: "file", bytes: bytes.length, modifiedMs: now(), mode, inode } });
  }

  const system: Pick<FileSystem, "stat" | "read" | "replace" | "makeFolder" | "rename"> = {
    stat: async (path) => files.get(path)?.stat,
    async read(path) {
      const file = files.get(path);
      if (file === undefined) throw Object.assign(new Error("There is none"), { code: "ENOENT" });
      return file.bytes;
    },
    async replace(path, bytes, { mode }) {
      if (problem !== undefined) throw problem;
      put(path, bytes, mode);
    },
    makeFolder: async () => {},
    async rename(from, to) {
      const file = files.get(from);
      if (file !== undefined) files.set(to, file);
      files.delete(from);
    },
  };

  return {
    system: system as FileSystem,
    text: (path: string) => new TextDecoder().decode(files.get(path)?.bytes),
    write: (path: string, text: string) => put(path, new TextEncoder().encode(text)),
    /** Writing fails until this is called without one. */
    fail(error?: Error): void {
      problem = error;
    },
  };
}

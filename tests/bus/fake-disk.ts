/** A disk in memory that can fail, be full, or stop with its process at any operation, and shows what is left after. */

import { Buffer } from "node:buffer";
import type { FileSystem } from "../../src/core/platform.ts";
import { createAppendFile } from "../../src/platform/append-file.ts";

export interface Operation {
  readonly kind: "append" | "sync" | "replace" | "rename" | "open";
  readonly path: string;
  /** What is to be written. */
  readonly bytes: number;
}

/** What happens instead: `bytes` are written, and then the system says `code`, or nothing ever again. */
type Fault =
  | { readonly kind: "error"; readonly code: string; readonly bytes: number }
  | { readonly kind: "stop"; readonly bytes: number };

interface Inode {
  readonly number: number;
  content: Buffer;
  /** Of `content`, what a power cut leaves. */
  synced: number;
}

export interface FakeDisk extends FileSystem {
  /** Operations so far. */
  readonly operations: number;
  /** Resolves when the process was stopped. */
  readonly stopped: Promise<void>;
  onOperation: (operation: Operation, number: number) => Fault | undefined;
  /** Before a sync of a slow disk begins. */
  beforeSync: () => Promise<void>;
  /** A disk with what the killed process has written. */
  afterKill(): FakeDisk;
  /** A disk with what was synced, and of the rest of each file only `kept` bytes, perhaps with NULs for all others. */
  afterPowerCut(kept: number, hasNuls: boolean): FakeDisk;
  text(path: string): string;
  write(path: string, text: string | Uint8Array): void;
  /** Leaves only the first `bytes`. */
  cut(path: string, bytes: number): void;
  paths(): string[];
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: the disk said so`), { code });
}

export function createFakeDisk(from: ReadonlyMap<string, Buffer> = new Map()): FakeDisk {
  const inodes = new Map<string, Inode>();
  let lastNumber = 0;
  let operations = 0;
  let isStopped = false;
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });

  function make(path: string, content: Buffer): Inode {
    const inode = { number: ++lastNumber, content, synced: content.length };
    inodes.set(path, inode);
    return inode;
  }

  for (const [path, content] of from) make(path, content);

  function inodeAt(path: string): Inode {
    const inode = inodes.get(path);
    if (inode === undefined) throw systemError("ENOENT");
    return inode;
  }

  /** `write` gets how many bytes it may write. */
  async function operate(operation: Operation, write: (bytes: number) => void): Promise<void> {
    await Promise.resolve();
    const fault = isStopped ? { kind: "stop" as const, bytes: 0 } : disk.onOperation(operation, operations++);
    if (fault === undefined) {
      write(operation.bytes);
      return;
    }
    if (!isStopped) write(Math.min(fault.bytes, operation.bytes));
    if (fault.kind === "error") throw systemError(fault.code);
    isStopped = true;
    stop();
    await new Promise(() => {});
  }

  function copy(cut: (inode: Inode) => Buffer): FakeDisk {
    return createFakeDisk(new Map(Array.from(inodes, ([path, inode]) => [path, cut(inode)])));
  }

  const unused = () => Promise.reject(new Error("The journal does not need this"));

  const disk: FakeDisk = {
    get operations() {
      return operations;
    },
    stopped,
    onOperation: () => undefined,
    beforeSync: async () => {},
    afterKill: () => copy(({ content }) => Buffer.from(content)),
    afterPowerCut: (kept, hasNuls) =>
      copy(({ content, synced }) => {
        const end = Math.min(content.length, synced + kept);
        const rest = Buffer.alloc(hasNuls ? content.length - end : 0);
        return Buffer.concat([content.subarray(0, end), rest]);
      }),
    text: (path) => inodeAt(path).content.toString(),
    write: (path, text) => void make(path, Buffer.from(text)),
    cut(path, bytes) {
      const inode = inodeAt(path);
      inode.content = inode.content.subarray(0, bytes);
    },
    paths: () => [...inodes.keys()].sort(),

    async stat(path) {
      const inode = inodes.get(path);
      if (inode === undefined) return undefined;
      const { number, content } = inode;
      return { kind: "file", bytes: content.length, modifiedMs: 0, mode: 0o600, inode: number };
    },
    async read(path, { start = 0, end } = {}) {
      return inodeAt(path).content.subarray(start, end);
    },
    async *stream(path) {
      const { content } = inodeAt(path);
      for (let at = 0; at < content.length; at += 1000) yield content.subarray(at, at + 1000);
    },
    async replace(path, bytes) {
      await operate({ kind: "replace", path, bytes: bytes.length }, (count) => {
        // Less than all is in the temporary file only.
        if (count === bytes.length) make(path, Buffer.from(bytes));
      });
    },
    async openAppend(path) {
      await operate({ kind: "open", path, bytes: 0 }, () => {
        if (!inodes.has(path)) make(path, Buffer.alloc(0));
      });
      const inode = inodeAt(path);
      return createAppendFile({
        async write(bytes, offset, length) {
          await operate({ kind: "append", path, bytes: length }, (count) => {
            inode.content = Buffer.concat([inode.content, bytes.subarray(offset, offset + count)]);
          });
          return { bytesWritten: length };
        },
        async datasync() {
          const { length } = inode.content;
          await disk.beforeSync();
          await operate({ kind: "sync", path, bytes: 1 }, (count) => {
            if (count > 0) inode.synced = Math.max(inode.synced, length);
          });
        },
        close: async () => {},
      });
    },
    async makeFolder() {},
    async rename(path, to) {
      await operate({ kind: "rename", path, bytes: 1 }, (count) => {
        if (count === 0) return;
        inodes.set(to, inodeAt(path));
        inodes.delete(path);
      });
    },
    linkStat: unused,
    realPath: unused,
    readLink: unused,
    list: unused,
    freeBytes: unused,
    remove: unused,
  };
  return disk;
}

/** `HISTORY.md`: added to at its end, and read from there. */

import { Buffer } from "node:buffer";
import { UserError } from "../core/errors.ts";
import type { HistoryEntry, MemoryStore } from "../core/memory.ts";
import type { FileSystem } from "../core/platform.ts";
import { explained, quote } from "../lib/file-error.ts";
import { dirname, join } from "../lib/path.ts";
import { entryText, formatEntry, mergeHistories, parseHistory, parseHistoryLines } from "./history-text.ts";
import { createStamps } from "./stamp.ts";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** So much is read first, and at most so much, however long the file is. */
const FIRST_READ = 64 * 1024;
const LONGEST_READ = 4 * 1024 * 1024;

const NEWLINE = 0x0a;

interface HistoryOptions {
  readonly files: FileSystem;
  /** `<workspace>/memory`. */
  readonly folder: string;
  readonly timeZone: () => string;
}

export type History = Pick<MemoryStore, "history" | "appendHistory">;

/** Whoever appends holds the lock of the memory. */
export function createHistory({ files, folder, timeZone }: HistoryOptions): History {
  const path = join(folder, "HISTORY.md");
  const linesPath = join(folder, "history.jsonl");
  const stamps = createStamps(timeZone);

  async function sizeOf(file: string): Promise<number> {
    const stat = await files.linkStat(file);
    if (stat === undefined) return 0;
    if (stat.kind !== "file") throw new UserError(`Cannot use ${quote(file)}: it is not a regular file`);
    return stat.bytes;
  }

  /** What must come before a new entry: the end of a torn line, and a blank one. */
  async function gap(): Promise<string> {
    const bytes = await sizeOf(path);
    if (bytes === 0) return "";
    const end = await files.read(path, { start: Math.max(0, bytes - 2), end: bytes });
    if (end.at(-1) !== NEWLINE) return "\n\n";
    return end.length < 2 || end.at(-2) === NEWLINE ? "" : "\n";
  }

  async function newest(
    file: string,
    parse: (text: string) => readonly HistoryEntry[],
    limit: number,
  ): Promise<readonly HistoryEntry[]> {
    const size = await sizeOf(file);
    for (let length = FIRST_READ; ; length *= 4) {
      const start = Math.max(0, size - Math.min(length, LONGEST_READ));
      const bytes = await files.read(file, { start, end: size });
      // The first line is cut, and the first entry may be.
      const from = start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
      const text = Buffer.from(bytes.subarray(from)).toString("utf8");
      // A power cut leaves NULs, and an editor a mark at the beginning.
      const entries = parse(text.replaceAll("\0", "").replace(/^\ufeff/, ""));
      if (start === 0) return entries.slice(-limit);
      if (entries.length > limit || length >= LONGEST_READ) return entries.slice(1).slice(-limit);
    }
  }

  return {
    async appendHistory(text, { at }) {
      const said = entryText(text);
      if (said === "") return;
      await explained("write", path, async () => {
        await files.makeFolder(dirname(path), { mode: FOLDER_MODE });
        const before = await gap();
        const file = await files.openAppend(path, { mode: FILE_MODE });
        try {
          await file.append(Buffer.from(before + formatEntry(stamps.of(at), said)));
          await file.sync();
        } finally {
          await file.close();
        }
      });
    },
    async history({ limit }) {
      if (limit <= 0) return [];
      const [own, lines] = await Promise.all([
        explained("read", path, () => newestOf(path, parseHistory)),
        explained("read", linesPath, () => newestOf(linesPath, parseHistoryLines)),
      ]);
      return mergeHistories(lines, own).slice(-limit);

      async function newestOf(file: string, parse: (text: string) => readonly HistoryEntry[]) {
        return (await sizeOf(file)) === 0 ? [] : newest(file, parse, limit);
      }
    },
  };
}

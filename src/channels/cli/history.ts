/** What the user submitted before, in a file: one JSON string a line, oldest first. */

import type { AppendFile, FileSystem, Log } from "../../core/platform.ts";
import { parseJson } from "../../lib/parse-json.ts";
import { dirname } from "../../lib/path.ts";
import { stripControls, wellFormed } from "../../lib/text.ts";

/** The newest entries are kept; the file is trimmed to them when it is opened. */
export const MAX_ENTRIES = 1_000;

/** A longer entry is remembered while the program runs, and not stored. */
const MAX_ENTRY = 16 * 1024;

/** What is read of the end of the file. */
const MAX_BYTES = 4 * 1024 * 1024;

export interface History {
  /** Never rejects: without a readable file there is no history. */
  load(): Promise<readonly string[]>;
  /** Never rejects: a history that cannot be written is logged once. */
  add(entry: string): Promise<void>;
  /** Frees the file. Never rejects. */
  close(): Promise<void>;
}

function parseEntry(line: string): string | undefined {
  // A torn or foreign line costs that line; the caller counts it.
  const value = parseJson(line);
  // The file may have been written by others: what it holds will be drawn.
  const entry = typeof value === "string" ? wellFormed(stripControls(value)) : "";
  return entry.trim() === "" ? undefined : entry;
}

function encode(entries: readonly string[]): Uint8Array {
  return new TextEncoder().encode(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
}

/** The history in the file at `path`; without a path, one that remembers nothing. */
export function createHistory(path: string | undefined, files: FileSystem, log: Log): History {
  if (path === undefined) return { load: async () => [], add: async () => {}, close: async () => {} };
  let writable = false;
  let unterminated = false;
  let file: AppendFile | undefined;

  async function read(file: string): Promise<readonly string[]> {
    const stat = await files.stat(file);
    if (stat === undefined) return [];
    if (stat.kind !== "file") throw new Error("it is not a regular file");
    const start = Math.max(0, stat.bytes - MAX_BYTES);
    const text = new TextDecoder().decode(await files.read(file, { start }));
    unterminated = text !== "" && !text.endsWith("\n");
    const lines = text.split("\n").slice(start > 0 ? 1 : 0);
    const written = lines.filter((line) => line.trim() !== "");
    const entries = written.map(parseEntry).filter((entry) => entry !== undefined);
    if (entries.length === 0 && written.length > 0) throw new Error("it holds no entry");
    if (entries.length < written.length) {
      log.warn("Skipped damaged lines of the prompt history", {
        path: file,
        lines: written.length - entries.length,
      });
    }
    const kept = entries.slice(-MAX_ENTRIES);
    if (start > 0 || entries.length > MAX_ENTRIES) {
      await files.replace(file, encode(kept), { mode: 0o600 });
      unterminated = false;
    }
    return kept;
  }

  async function openFile(at: string): Promise<AppendFile> {
    await files.makeFolder(dirname(at), { mode: 0o700 });
    return files.openAppend(at, { mode: 0o600 });
  }

  return {
    async load() {
      try {
        const entries = await read(path);
        writable = true;
        return entries;
      } catch (error) {
        log.warn("Ignored the prompt history", { path, error });
        return [];
      }
    },

    async add(entry) {
      if (!writable || entry.length > MAX_ENTRY) return;
      try {
        file ??= await openFile(path);
        const line = encode([entry]);
        await file.append(unterminated ? Uint8Array.of(0x0a, ...line) : line);
        unterminated = false;
      } catch (error) {
        writable = false;
        log.warn("Stopped storing the prompt history", { path, error });
      }
    },

    async close() {
      const open = file;
      file = undefined;
      writable = false;
      try {
        await open?.close();
      } catch (error) {
        log.warn("Could not close the prompt history", { path, error });
      }
    },
  };
}

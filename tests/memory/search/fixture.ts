/** A workspace with memory and sessions as files, and a search of it. */

import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FileSystem } from "../../../src/core/platform.ts";
import type { SessionFile } from "../../../src/core/session.ts";
import { createMemorySearch, type MemorySearchOptions } from "../../../src/memory/search/search.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createFileSystem } from "../../../src/platform/files.ts";
import { createFakeLog } from "../../fakes/log.ts";
import { tempFolder } from "../../fakes/temp.ts";

export const signal = new AbortController().signal;

/** A line as it is stored. */
export type Line =
  | string
  | { readonly role: string; readonly content: unknown; readonly [key: string]: unknown };

/** As the original writes it: spaces behind colons, and nothing but ASCII. */
export function asPython(line: object): string {
  return JSON.stringify(line)
    .replace(/":/g, '": ')
    .replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function createFixture({
  files = createFileSystem(),
  clock = systemClock,
  ...options
}: Partial<Omit<MemorySearchOptions, "files">> & { readonly files?: FileSystem } = {}) {
  const workspace = tempFolder();
  const log = createFakeLog();
  const sessionFiles: SessionFile[] = [];
  const memory = createMemorySearch({
    files,
    sessions: { files: async () => sessionFiles },
    log,
    clock,
    workspace,
    timeZone: "UTC",
    ...options,
  });

  function put(path: string, content: string | Uint8Array): string {
    const full = join(workspace, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    return full;
  }

  /** Bytes are written as they are; each line gets its newline. */
  function session(key: string, content: readonly Line[] | Uint8Array, { isArchived = false } = {}): string {
    const name = `${isArchived ? "archive/" : ""}${sessionFiles.length}`;
    const text = (lines: readonly Line[]) =>
      lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
    const path = put(`sessions/${name}.jsonl`, content instanceof Uint8Array ? content : text(content));
    sessionFiles.push({ key, path, bytes: statSync(path).size, modifiedMs: 0, isArchived });
    return path;
  }

  return {
    workspace,
    log,
    memory,
    put,
    session,
    find: (query: string, limit = 8) => memory.search(query, { limit, signal }),
    /** What is shown of the places found, the best first. */
    excerpts: async (query: string, limit = 8) =>
      (await memory.search(query, { limit, signal })).map(({ excerpt }) => excerpt),
  };
}

export function said(content: unknown, fields: object = {}): Line {
  return { role: "user", content, ...fields };
}

/** `MEMORY.md`: replaced whole, with what it said before kept as versions. */

import { Buffer } from "node:buffer";
import { UserError } from "../core/errors.ts";
import type { MemoryStore, MemoryVersion } from "../core/memory.ts";
import type { Clock, FileSystem, Log } from "../core/platform.ts";
import { explained, quote } from "../lib/file-error.ts";
import { fileStamp } from "../lib/file-stamp.ts";
import { dirname, join } from "../lib/path.ts";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** In bytes. A longer file is no list of facts. */
const LARGEST = 256 * 1024;

const KEPT_VERSIONS = 20;
const LISTED = 10_000;
const ID = /^(\d{4})(\d{2})(\d{2})t(\d{2})(\d{2})(\d{2})(\d{3})z$/;

export type Facts = Pick<MemoryStore, "facts" | "replaceFacts" | "keepVersion" | "versions" | "version">;

interface FactsOptions {
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly log: Log;
  /** `<workspace>/memory/MEMORY.md`. */
  readonly path: string;
  /** Where its versions lie. */
  readonly folder: string;
}

function idOf(ms: number): string {
  return fileStamp(ms).toLowerCase();
}

/** ISO 8601; `undefined` for what is no version's id. */
function timeOf(id: string): string | undefined {
  const [, year, month, day, hour, minute, second, ms] = ID.exec(id) ?? [];
  const time = `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`;
  return year === undefined || Number.isNaN(Date.parse(time)) ? undefined : time;
}

/** Whoever replaces them holds the lock of the memory. */
export function createFacts({ files, clock, log, path, folder }: FactsOptions): Facts {
  const versionPath = (id: string) => join(folder, `${id}.md`);

  async function bytesOf(file: string): Promise<Buffer | undefined> {
    return explained("read", file, async () => {
      const stat = await files.linkStat(file);
      if (stat === undefined) return undefined;
      // Behind a link lies what the owner did not give the agent, or what is none of its own.
      if (stat.kind !== "file") throw new UserError(`Cannot use ${quote(file)}: it is not a regular file`);
      if (stat.bytes > LARGEST) {
        throw new UserError(`Cannot use ${quote(file)}: it is larger than ${LARGEST / 1024} KiB`);
      }
      return Buffer.from(await files.read(file, { end: LARGEST }));
    });
  }

  const textOf = async (file: string) => (await bytesOf(file))?.toString("utf8");

  /** Newest first. */
  async function ids(): Promise<readonly string[]> {
    if ((await files.stat(folder))?.kind !== "directory") return [];
    const { entries } = await files.list(folder, { limit: LISTED });
    return entries
      .filter(({ kind, name }) => kind === "file" && name.endsWith(".md"))
      .map(({ name }) => name.slice(0, -".md".length))
      .filter((id) => timeOf(id) !== undefined)
      .sort()
      .reverse();
  }

  async function isKept(bytes: Buffer, id: string | undefined): Promise<boolean> {
    return id !== undefined && (await bytesOf(versionPath(id)))?.equals(bytes) === true;
  }

  /** Byte by byte: it may have been written in another encoding. */
  async function keep(bytes: Buffer): Promise<void> {
    const before = await ids();
    // What failed after it was kept is tried again, and must not push out what was said before.
    if (await isKept(bytes, before[0])) return;
    const newest = timeOf(before[0] ?? "");
    // Two in one millisecond, or after the clock was set back, come in their order all the same.
    const now = Math.max(clock.now(), newest === undefined ? 0 : Date.parse(newest) + 1);
    await files.makeFolder(folder, { mode: FOLDER_MODE });
    const kept = versionPath(idOf(now));
    await files.replace(kept, bytes, { mode: FILE_MODE });
    log.info("Kept what MEMORY.md said before", { path: kept });
    for (const id of before.slice(KEPT_VERSIONS - 1)) await files.remove(versionPath(id));
  }

  return {
    facts: async () => (await textOf(path)) ?? "",
    async replaceFacts(given, { seen }) {
      const text = given.toWellFormed();
      const bytes = Buffer.from(text);
      if (bytes.length > LARGEST) {
        throw new UserError(`Cannot write ${quote(path)}: it would be larger than ${LARGEST / 1024} KiB`);
      }
      const before = (await bytesOf(path)) ?? Buffer.alloc(0);
      if (before.toString("utf8") !== seen) return false;
      if (before.equals(bytes)) return true;
      return explained("write", path, async () => {
        if (before.length > 0) await keep(before);
        await files.makeFolder(dirname(path), { mode: FOLDER_MODE });
        // Whoever edits it by hand knows of no lock, and keeping a version takes time.
        if (!before.equals((await bytesOf(path)) ?? Buffer.alloc(0))) return false;
        await files.replace(path, bytes, { mode: (await files.stat(path))?.mode ?? FILE_MODE });
        return true;
      });
    },
    async keepVersion(next) {
      const now = await bytesOf(path);
      if (now === undefined || now.length === 0 || (next !== undefined && now.equals(next))) return;
      await explained("keep a version of", path, () => keep(now));
    },
    async versions() {
      const found = await Promise.all(
        (await ids()).map(async (id): Promise<MemoryVersion[]> => {
          const stat = await files.stat(versionPath(id));
          const replacedAt = timeOf(id);
          return stat === undefined || replacedAt === undefined
            ? []
            : [{ id, replacedAt, bytes: stat.bytes }];
        }),
      );
      return found.flat();
    },
    version: async (id) => (timeOf(id) === undefined ? undefined : textOf(versionPath(id))),
  };
}

/** The file of the jobs: read again when it changed, changed under its lock on what it says now, and kept when it is damaged. */

import { UserError } from "../core/errors.ts";
import type { Clock, FileStat, FileSystem, Locks } from "../core/platform.ts";
import { createAlone } from "../lib/alone.ts";
import { errorCode } from "../lib/error-code.ts";
import { explained, quote } from "../lib/file-error.ts";
import { jsonProblem } from "../lib/json-problem.ts";
import { parseJson } from "../lib/parse-json.ts";
import { dirname, join } from "../lib/path.ts";
import { isSameFile } from "../lib/same-file.ts";
import { type JobsFile, noJobs, readJobs, writeJobs } from "./jobs-file.ts";

export const LONGEST_FILE = 4 * 1024 * 1024;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Times that a change begins anew because an editor saved the file meanwhile. */
const MOST_TRIES = 5;

export interface StoredJobsOptions {
  readonly files: FileSystem;
  readonly locks: Locks;
  readonly clock: Pick<Clock, "now" | "after">;
  /** Absolute and real. */
  readonly workspace: string;
}

export type Loaded =
  | { readonly kind: "read"; readonly file: JobsFile; readonly stat: FileStat | undefined }
  | { readonly kind: "damaged"; readonly error: UserError; readonly stat: FileStat };

/** What a change comes to. Without a file everything stays as it is. */
export interface Changed<T> {
  readonly file: JobsFile | undefined;
  readonly result: T;
}

export interface StoredJobs {
  readonly path: string;
  /** The same object as long as the file is the same. Rejects when the system does not let it be read. */
  load(): Promise<Loaded>;
  /** Throws a `UserError` for a file that cannot be understood. */
  read(): Promise<Loaded & { readonly kind: "read" }>;
  /** On disk when it resolves. Throws a `UserError` for a file that cannot be understood, which stays as it is. */
  change<T>(work: (file: JobsFile) => Changed<T>): Promise<T>;
  /** The file at another path, with nothing in it where there is none. Throws a `UserError` as `read` does. */
  readOther(path: string): Promise<JobsFile>;
}

export function createStoredJobs({ files, locks, clock, workspace }: StoredJobsOptions): StoredJobs {
  const path = join(workspace, "cron", "jobs.json");
  let seen: Loaded | undefined;

  /** `undefined` where there is none. Throws a `UserError` for what cannot be understood. */
  async function understand(from: string): Promise<JobsFile | undefined> {
    const damaged = (problem: string) =>
      new UserError(`Cannot read ${quote(from)}: ${problem}`, {
        hint: "Mend it: until then it is left as it is",
        exitCode: 1,
      });
    const bytes = await bytesOf(from, damaged);
    if (bytes === undefined) return undefined;
    if (bytes.length > LONGEST_FILE) throw damaged(`it is larger than ${LONGEST_FILE / 1024 / 1024} MiB`);
    const text = utf8Of(bytes);
    if (text === undefined) throw damaged("the text is not UTF-8");
    const value = parseJson(text);
    if (value === undefined) throw damaged(await jsonProblem(text));
    const file = readJobs(value, from);
    if (typeof file === "string") throw damaged(file);
    return file;
  }

  async function bytesOf(
    from: string,
    damaged: (problem: string) => UserError,
  ): Promise<Uint8Array | undefined> {
    try {
      const stat = await files.stat(from);
      // A pipe or a device would never be at its end.
      if (stat !== undefined && stat.kind !== "file") throw damaged("it is not a regular file");
      return stat && (await files.read(from, { end: LONGEST_FILE + 1 }));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  async function load(): Promise<Loaded> {
    // Before it is read: what comes in between shows as another change.
    const stat = await files.stat(path);
    const isKnown =
      seen !== undefined &&
      (stat === undefined || seen.stat === undefined ? stat === seen.stat : isSameFile(seen.stat, stat));
    if (isKnown && seen !== undefined) return seen;
    try {
      const file = (await understand(path)) ?? noJobs;
      seen = { kind: "read", file, stat };
    } catch (error) {
      if (!(error instanceof UserError) || stat === undefined) throw error;
      seen = { kind: "damaged", error, stat };
    }
    return seen;
  }

  async function read(): Promise<Loaded & { readonly kind: "read" }> {
    const loaded = await explained("read", path, load);
    if (loaded.kind === "damaged") throw loaded.error;
    return loaded;
  }

  /** Nobody else changes the file meanwhile, but for editors. */
  const alone = createAlone({ locks, clock, name: `cron:${workspace}`, path });

  async function write(file: JobsFile, mode: number): Promise<void> {
    const bytes = new TextEncoder().encode(writeJobs(file));
    // It would not be read again.
    if (bytes.length > LONGEST_FILE)
      throw new UserError(
        `Cannot write ${quote(path)}: it would be larger than ${LONGEST_FILE / 1024 / 1024} MiB`,
      );
    await explained("write", path, async () => {
      await files.makeFolder(dirname(path), { mode: FOLDER_MODE });
      await files.replace(path, bytes, { mode });
    });
    const stat = await files.stat(path);
    // What we wrote need not be read, unless an editor was quick.
    seen = stat?.bytes === bytes.length ? { kind: "read", file, stat } : undefined;
  }

  return {
    path,
    load,
    read,
    change: (work) =>
      alone(async () => {
        for (let tries = 1; ; tries++) {
          const loaded = await read();
          const { file, result } = work(loaded.file);
          if (file === undefined) return result;
          // An editor may have saved it meanwhile.
          if ((await read()) !== loaded && tries < MOST_TRIES) continue;
          await write(file, loaded.stat?.mode ?? FILE_MODE);
          return result;
        }
      }),
    readOther: async (from) => (await explained("read", from, () => understand(from))) ?? noJobs,
  };
}

/** `undefined` for what is none. A byte order mark is taken away. */
function utf8Of(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // The decoder says no more than that.
    return undefined;
  }
}

/** What the history has and its session does not say yet: noted, so that no other process and none after a kill tells it again. */

import { Buffer } from "node:buffer";
import * as v from "valibot";
import type { FileSystem, Log } from "../core/platform.ts";
import type { Unconsolidated } from "../core/session.ts";
import { HIDDEN } from "../lib/own-places.ts";
import { parseJson } from "../lib/parse-json.ts";
import { join } from "../lib/path.ts";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** In bytes: a summary, and a few numbers. */
const LARGEST = 64 * 1024;
/** In characters. The session takes less. */
const LONGEST_SUMMARY = 8_000;
/** Files at most: a kill leaves one behind. Two sessions with the same one are noted less well, and no worse. */
const MOST = 64;

export interface Written {
  readonly turns: Unconsolidated;
  readonly summary: string | undefined;
}

const schema = v.object({
  key: v.string(),
  inode: v.number(),
  from: v.pipe(v.number(), v.safeInteger()),
  to: v.pipe(v.number(), v.safeInteger()),
  summary: v.optional(v.string()),
});

/** None of the calls rejects: without a note, what failed between would be told twice, and nothing is lost. */
export interface WrittenNotes {
  /** `undefined` when these turns are not in the history, as far as is known. */
  find(turns: Unconsolidated): Promise<Written | undefined>;
  add(written: Written): Promise<void>;
  remove(turns: Unconsolidated): Promise<void>;
}

interface WrittenOptions {
  readonly files: FileSystem;
  readonly log: Log;
  /** Absolute and real. */
  readonly workspace: string;
}

export function createWrittenNotes({ files, log, workspace }: WrittenOptions): WrittenNotes {
  const folder = join(workspace, HIDDEN, "memory");
  // A session's file keeps its number when it goes into the archive.
  const pathOf = ({ inode }: Unconsolidated) => join(folder, `written-${inode % MOST}.json`);

  async function unlessBroken<T>(path: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      log.warn("Could not note what is in memory already", { path, error });
      return undefined;
    }
  }

  return {
    find: (turns) =>
      unlessBroken(pathOf(turns), async () => {
        if ((await files.linkStat(pathOf(turns)))?.kind !== "file") return undefined;
        const text = Buffer.from(await files.read(pathOf(turns), { end: LARGEST })).toString("utf8");
        const noted = v.safeParse(schema, parseJson(text));
        if (!noted.success) return undefined;
        const { key, inode, from, to, summary } = noted.output;
        const isOfThese = key === turns.key && inode === turns.inode && from === turns.from;
        if (!isOfThese || to <= from) return undefined;
        return { turns: { ...turns, to, hasMore: true }, summary };
      }),
    async add({ turns, summary }) {
      const { key, inode, from, to } = turns;
      const note = { key, inode, from, to, summary: summary?.slice(0, LONGEST_SUMMARY).toWellFormed() };
      await unlessBroken(pathOf(turns), async () => {
        await files.makeFolder(folder, { mode: FOLDER_MODE });
        await files.replace(pathOf(turns), Buffer.from(JSON.stringify(note)), { mode: FILE_MODE });
      });
    },
    async remove(turns) {
      await unlessBroken(pathOf(turns), () => files.remove(pathOf(turns)));
    },
  };
}

/** Remembers the ids that have left the inbox, for as long as their messages may come again. */

import { Buffer } from "node:buffer";
import type { Clock, FileSystem, Log } from "../../core/platform.ts";
import { explained } from "../../lib/file-error.ts";
import { FILE_MODE } from "./disk.ts";
import { type Contents, HEADER, reportOf, settle } from "./read.ts";
import { formatRecord, type SeenRecord } from "./records.ts";

const FEWEST = 100_000;
/** Kept however many there are. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1000;
/** Ids in the file twice or forgotten that are not worth a new one. */
const MOST_IDLE = 10_000;
/** Of one line, so that damage costs no more. */
const MOST_IN_LINE = 50;

export interface Seen {
  has(id: string): boolean;
  /** Resolves when they are on disk. */
  add(ids: readonly string[]): Promise<void>;
}

export interface SeenOptions {
  readonly files: FileSystem;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly path: string;
  readonly contents: Contents;
  /** When each id in the file was added, oldest first. */
  readonly times: Map<string, number>;
  /** Ids that are kept however old they are. */
  readonly fewest?: number;
}

export async function openSeen(options: SeenOptions): Promise<Seen> {
  const { files, clock, log, path, contents, times, fewest = FEWEST } = options;
  const now = clock.now();
  let isThere = await settle(contents, { files, path, log, now });
  let inFile = times.size;
  let { isTerminated } = contents;
  let report = isThere && contents.damaged > contents.reported ? [reportOf(contents.damaged)] : [];

  // Of a time when the clock was wrong: they would keep all that came after them.
  for (const [id, at] of times) if (at > now) times.set(id, now);
  forgetOld(now);

  function forgetOld(now: number): void {
    for (const [id, at] of times) {
      if (times.size <= fewest || at > now - KEEP_MS) return;
      times.delete(id);
    }
  }

  async function append(text: string): Promise<void> {
    const file = await files.openAppend(path, { mode: FILE_MODE });
    try {
      await file.append(Buffer.from(isTerminated ? text : `\n${text}`));
      await file.sync();
    } catch (error) {
      isTerminated = false;
      throw error;
    } finally {
      await file.close();
    }
    isTerminated = true;
  }

  async function replace(): Promise<void> {
    const lines = [HEADER, ...linesOf(times)];
    await files.replace(path, Buffer.from(`${lines.join("\n")}\n`), { mode: FILE_MODE });
    inFile = times.size;
    isThere = true;
    isTerminated = true;
  }

  async function add(ids: readonly string[]): Promise<void> {
    const at = clock.now();
    // Somebody may have removed it. What was in it is known here still.
    isThere &&= (await files.stat(path)) !== undefined;
    if (isThere) {
      const added = new Map(ids.map((id) => [id, at]));
      await append([...report, ...linesOf(added), ""].join("\n"));
      inFile += ids.length;
    }
    remember(times, { ids, at });
    forgetOld(at);
    report = [];
    if (!isThere || inFile > times.size * 2 + MOST_IDLE) await replace();
  }

  return {
    has: (id) => times.has(id),
    add: (ids) => explained("write", path, () => add(ids)),
  };
}

/** The newest come last. */
export function remember(times: Map<string, number>, { ids, at }: SeenRecord): void {
  for (const id of ids) {
    times.delete(id);
    times.set(id, at);
  }
}

function linesOf(times: ReadonlyMap<string, number>): string[] {
  const records: { ids: string[]; at: number }[] = [];
  for (const [id, at] of times) {
    const last = records.at(-1);
    if (last?.at === at && last.ids.length < MOST_IN_LINE) last.ids.push(id);
    else records.push({ ids: [id], at });
  }
  return records.map(formatRecord);
}

/** The files that sessions left when they began anew: how they are named, found and marked. */

import { Buffer } from "node:buffer";
import type { Clock, FileSystem, Locks } from "../core/platform.ts";
import type { SessionFile, Unconsolidated } from "../core/session.ts";
import { fileStamp } from "../lib/file-stamp.ts";
import { basename, join } from "../lib/path.ts";
import { decodeSessionKey, encodeSessionKey } from "../lib/session-key.ts";
import { storedKey } from "./legacy.ts";
import { formatMetadata } from "./lines.ts";
import { FILE_MODE } from "./modes.ts";
import { readMark } from "./unconsolidated.ts";

const LISTED = 100_000;
const STAMPED = /^(.*)-\d{8}t\d{9}z\.jsonl$/s;

function archiveFolder(workspace: string): string {
  return join(workspace, "sessions", "archive");
}

/** `now` in milliseconds since the epoch. */
export function archivePath(workspace: string, key: string, now: number): string {
  const stamp = fileStamp(now).toLowerCase();
  return join(archiveFolder(workspace), `${encodeSessionKey(key)}-${stamp}.jsonl`);
}

interface Place {
  readonly files: FileSystem;
  readonly workspace: string;
}

async function namesIn({ files, workspace }: Place): Promise<readonly string[]> {
  const folder = archiveFolder(workspace);
  if ((await files.stat(folder))?.kind !== "directory") return [];
  const { entries } = await files.list(folder, { limit: LISTED });
  return entries.filter(({ kind, name }) => kind === "file" && STAMPED.test(name)).map(({ name }) => name);
}

/** The key of the session that a file of the archive comes from; `undefined` when neither its name nor the file says. */
export async function archivedKey(files: FileSystem, path: string): Promise<string | undefined> {
  const encoded = STAMPED.exec(basename(path))?.[1];
  const key = encoded === undefined ? undefined : decodeSessionKey(encoded);
  if (key !== undefined) return key;
  return (await files.linkStat(path))?.kind === "file" ? storedKey(files, path) : undefined;
}

export async function listArchive({ files, workspace }: Place): Promise<readonly SessionFile[]> {
  const found: SessionFile[] = [];
  for (const name of await namesIn({ files, workspace })) {
    const path = join(archiveFolder(workspace), name);
    const stat = await files.linkStat(path);
    if (stat?.kind !== "file") continue;
    const key = await archivedKey(files, path);
    if (key === undefined) continue;
    found.push({ key, path, bytes: stat.bytes, modifiedMs: stat.modifiedMs, isArchived: true });
  }
  return found;
}

/** Where a session's file went that turns were read from; `undefined` when it is not in the archive. */
export async function archiveOf(
  { files, workspace }: Place,
  { key, inode }: Pick<Unconsolidated, "key" | "inode">,
): Promise<string | undefined> {
  const prefix = `${encodeSessionKey(key)}-`;
  const names = (await namesIn({ files, workspace })).filter((name) => name.startsWith(prefix));
  for (const name of names.reverse()) {
    const path = join(archiveFolder(workspace), name);
    if ((await files.linkStat(path))?.inode === inode) return path;
  }
  return undefined;
}

/** Notes in a file of the archive that turns of it are in memory. Resolves to `false` when that is not so any more. */
export async function markArchived(
  { files, locks, clock }: { readonly files: FileSystem; readonly locks: Locks; readonly clock: Clock },
  path: string,
  {
    from,
    to,
    inode,
    signal,
  }: Pick<Unconsolidated, "from" | "to" | "inode"> & { readonly signal: AbortSignal },
): Promise<boolean> {
  const lock = await locks.acquire(`archive:${path}`, signal);
  try {
    const mark = await readMark({ files, path, signal });
    if (mark === undefined || mark.inode !== inode || mark.at !== from) return false;
    const [last] = await files.read(path, { start: mark.bytes - 1, end: mark.bytes });
    const now = new Date(clock.now()).toISOString();
    const line = formatMetadata({ ...(mark.metadata ?? UNKNOWN), summed: to }, now);
    const file = await files.openAppend(path, { mode: FILE_MODE });
    try {
      await file.append(Buffer.from(last === 0x0a ? line : `\n${line}`));
      await file.sync();
    } finally {
      await file.close();
    }
    return true;
  } finally {
    await lock.release();
  }
}

const UNKNOWN = {
  key: undefined,
  createdAt: undefined,
  metadata: {},
  lastConsolidated: 0,
  offset: undefined,
  shown: undefined,
  reported: undefined,
};

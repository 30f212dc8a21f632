/** Finds the sessions that the original wrote, by old names and in old places, and copies them once. */

import { Buffer } from "node:buffer";
import type { FileSystem, Log } from "../core/platform.ts";
import type { SessionFile } from "../core/session.ts";
import { never } from "../lib/abort.ts";
import { HIDDEN } from "../lib/own-places.ts";
import { basename, join } from "../lib/path.ts";
import { linesFromStart } from "../lib/placed-lines.ts";
import { decodeSessionKey } from "../lib/session-key.ts";
import { parseSessionLine } from "./lines.ts";
import { FILE_MODE, FOLDER_MODE } from "./modes.ts";

export interface LegacyPlaces {
  /** `<NANOBOT_HOME>/sessions`: flat files of the first versions, and a folder a workspace of later ones. */
  readonly homeSessions: string;
}

const LISTED = 10_000;
const LARGEST_COPY = 512 * 1024 * 1024;

/** The name the first versions gave a session; distinct keys could share one. */
function oldName(key: string): string {
  return key.replace(/[<>:"/\\|?*]/g, "_");
}

/** The folder of later versions for this workspace, if its id file says so. */
async function namespaceFolder(
  files: FileSystem,
  workspace: string,
  places: LegacyPlaces,
): Promise<string | undefined> {
  const idFile = join(workspace, HIDDEN, "workspace-id");
  if ((await files.stat(idFile))?.kind !== "file") return undefined;
  const id = Buffer.from(await files.read(idFile, { end: 64 }))
    .toString("utf8")
    .trim();
  return /^[0-9a-f]{32}$/.test(id) ? join(places.homeSessions, id) : undefined;
}

/** The key in the file's first line; `undefined` when there is none. */
export async function storedKey(files: FileSystem, path: string): Promise<string | undefined> {
  for await (const { bytes } of linesFromStart(files.stream(path, { signal: never }))) {
    const line = parseSessionLine(bytes);
    return line.kind === "metadata" ? line.metadata.key : undefined;
  }
  return undefined;
}

/** Where to look for sessions of the original. */
interface Places {
  readonly files: FileSystem;
  readonly workspace: string;
  readonly places: LegacyPlaces;
}

/**
 * The original's file of the session `key`, which has none of its own at `path`. A file whose first line
 * names another key is passed over, because old names were not unique.
 */
export async function findLegacy({
  files,
  workspace,
  places,
  key,
  path,
}: Places & { readonly key: string; readonly path: string }): Promise<string | undefined> {
  const namespace = await namespaceFolder(files, workspace, places);
  const candidates = [
    ...(namespace ? [join(namespace, `${Buffer.from(key).toString("base64url")}.jsonl`)] : []),
    join(workspace, "sessions", `${oldName(key)}.jsonl`),
    join(places.homeSessions, `${oldName(key)}.jsonl`),
  ];
  for (const candidate of candidates.filter(hasPossibleName)) {
    const stat = await files.stat(candidate);
    if (candidate === path || stat?.kind !== "file" || stat.bytes === 0) continue;
    if (((await storedKey(files, candidate)) ?? key) === key) return candidate;
  }
  return undefined;
}

/** No file system takes other names; such a key cannot have had a file of the original. */
function hasPossibleName(path: string): boolean {
  return Buffer.byteLength(basename(path)) <= 255 && !path.includes("\0");
}

interface AdoptOptions extends Places {
  readonly log: Log;
  readonly key: string;
  readonly path: string;
  readonly signal: AbortSignal;
}

/** Copies the session `key` of the original to `path`; the old file stays where it was. Resolves to whether there was one. */
export async function adopt({ log, signal, ...wanted }: AdoptOptions): Promise<boolean> {
  const { files, workspace, path } = wanted;
  const found = await findLegacy(wanted);
  if (found === undefined) return false;
  if (((await files.stat(found))?.bytes ?? 0) > LARGEST_COPY) {
    log.warn("Left a session of the original alone because it is too large", { path: found });
    return false;
  }
  await files.makeFolder(join(workspace, "sessions"), { mode: FOLDER_MODE });
  await copy(found, path, { files, signal });
  log.info("Copied a session of the original", { from: found, to: path });
  return true;
}

/** Years of a conversation: never whole in memory, and under its name only when all of it is there. */
async function copy(
  from: string,
  to: string,
  { files, signal }: Pick<AdoptOptions, "files" | "signal">,
): Promise<void> {
  const half = `${to}.copy`;
  await files.remove(half);
  const file = await files.openAppend(half, { mode: FILE_MODE });
  try {
    for await (const chunk of files.stream(from, { signal })) await file.append(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.rename(half, to);
}

function keyFromOldName(name: string): string {
  return name.replace("_", ":");
}

/** The sessions in one folder; those with names of ours first, so that a copy hides its original beside it. */
async function filesIn(files: FileSystem, folder: string): Promise<{ path: string; name: string }[]> {
  if ((await files.stat(folder))?.kind !== "directory") return [];
  const { entries } = await files.list(folder, { limit: LISTED });
  return entries
    .filter(({ name, kind }) => kind === "file" && name.endsWith(".jsonl"))
    .map(({ name }) => ({ path: join(folder, name), name: basename(name, ".jsonl") }))
    .sort((a, b) => Number(isOwnName(b.name)) - Number(isOwnName(a.name)));
}

function isOwnName(name: string): boolean {
  return decodeSessionKey(name) !== undefined;
}

/** Every session there is, copied or not yet. Ours come first, so that the copy of a session hides its original. */
export async function listSessionFiles({
  files,
  workspace,
  places,
}: Places): Promise<readonly SessionFile[]> {
  const own = join(workspace, "sessions");
  const namespace = await namespaceFolder(files, workspace, places);
  const found = new Map<string, SessionFile>();

  async function add(folder: string, keyOf: (name: string) => string | undefined): Promise<void> {
    for (const { path, name } of await filesIn(files, folder)) {
      const stat = await files.stat(path);
      const key =
        (folder === own ? decodeSessionKey(name) : undefined) ??
        (await storedKey(files, path)) ??
        keyOf(name);
      if (stat === undefined || key === undefined || found.has(key)) continue;
      found.set(key, { key, path, bytes: stat.bytes, modifiedMs: stat.modifiedMs, isArchived: false });
    }
  }

  await add(own, keyFromOldName);
  if (namespace !== undefined)
    await add(namespace, (name) => Buffer.from(name, "base64url").toString("utf8"));
  await add(places.homeSessions, keyFromOldName);
  return [...found.values()];
}

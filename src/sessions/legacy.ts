/** Finds the sessions that the original wrote, by old names and in old places, and copies them once. */

import { Buffer } from "node:buffer";
import type { FileSystem, Log } from "../core/platform.ts";
import { basename, join } from "../lib/path.ts";
import { decodeSessionKey } from "../lib/session-key.ts";
import { parseSessionLine } from "./lines.ts";
import { linesFromStart } from "./tail.ts";

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
  const idFile = join(workspace, ".nanobot", "workspace-id");
  if ((await files.stat(idFile))?.kind !== "file") return undefined;
  const id = Buffer.from(await files.read(idFile, { end: 64 }))
    .toString("utf8")
    .trim();
  return /^[0-9a-f]{32}$/.test(id) ? join(places.homeSessions, id) : undefined;
}

/** The key in the file's first line; `undefined` when there is none. */
async function storedKey(files: FileSystem, path: string): Promise<string | undefined> {
  const { signal } = new AbortController();
  for await (const { bytes } of linesFromStart(files.stream(path, { signal }))) {
    const line = parseSessionLine(bytes);
    return line.kind === "metadata" ? line.metadata.key : undefined;
  }
  return undefined;
}

interface AdoptOptions {
  readonly files: FileSystem;
  readonly log: Log;
  readonly key: string;
  readonly path: string;
  readonly places: LegacyPlaces;
  readonly workspace: string;
  readonly signal: AbortSignal;
}

/**
 * Copies the session `key` of the original to `path`; the old file stays where it was. A file whose own
 * first line names another key is passed over, because old names were not unique. Resolves to whether
 * there was one.
 */
export async function adopt({
  files,
  log,
  key,
  path,
  places,
  workspace,
  signal,
}: AdoptOptions): Promise<boolean> {
  const namespace = await namespaceFolder(files, workspace, places);
  const candidates = [
    ...(namespace ? [join(namespace, `${Buffer.from(key).toString("base64url")}.jsonl`)] : []),
    join(workspace, "sessions", `${oldName(key)}.jsonl`),
    join(places.homeSessions, `${oldName(key)}.jsonl`),
  ];
  for (const candidate of candidates) {
    const stat = await files.stat(candidate);
    if (candidate === path || stat?.kind !== "file" || stat.bytes === 0) continue;
    if (((await storedKey(files, candidate)) ?? key) !== key) continue;
    if (stat.bytes > LARGEST_COPY) {
      log.warn("Left a session of the original alone because it is too large", { path: candidate });
      continue;
    }
    await files.makeFolder(join(workspace, "sessions"), { mode: 0o700 });
    await files.replace(path, await files.read(candidate), { mode: 0o600 });
    signal.throwIfAborted();
    log.info("Copied a session of the original", { from: candidate, to: path });
    return true;
  }
  return false;
}

export interface SessionFile {
  readonly key: string;
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

function keyFromOldName(name: string): string {
  return name.replace("_", ":");
}

/** Every session there is, copied or not yet. Ours come first, so the copy of a session hides its original. */
export async function listSessionFiles(
  files: FileSystem,
  workspace: string,
  places: LegacyPlaces,
): Promise<readonly SessionFile[]> {
  const own = join(workspace, "sessions");
  const namespace = await namespaceFolder(files, workspace, places);
  const found = new Map<string, SessionFile>();
  for (const folder of [own, ...(namespace ? [namespace] : []), places.homeSessions]) {
    if ((await files.stat(folder))?.kind !== "directory") continue;
    const { entries } = await files.list(folder, { limit: LISTED });
    const names = entries.filter(({ name, kind }) => kind === "file" && name.endsWith(".jsonl"));
    // A session's own file before one of the original that lies beside it.
    const canonicalFirst = names
      .map(({ name }) => ({
        path: join(folder, name),
        decoded: folder === own ? decodeSessionKey(basename(name, ".jsonl")) : undefined,
      }))
      .sort((a, b) => Number(a.decoded === undefined) - Number(b.decoded === undefined));
    for (const { path, decoded } of canonicalFirst) {
      const stat = await files.stat(path);
      if (stat === undefined) continue;
      const name = basename(path, ".jsonl");
      const key =
        decoded ??
        (await storedKey(files, path)) ??
        (folder === namespace ? Buffer.from(name, "base64url").toString("utf8") : keyFromOldName(name));
      if (!found.has(key)) found.set(key, { key, path, bytes: stat.bytes, modifiedMs: stat.modifiedMs });
    }
  }
  return [...found.values()];
}

/** Keeps the files that come with messages in `media/<channel>/`: each content once, for a month, within a limit. */

import { createHash } from "node:crypto";
import { UserError } from "../core/errors.ts";
import { MAX_IMAGE_BYTES, type MediaSource, type MediaStore } from "../core/media.ts";
import type { Clock, FileStat, FileSystem, Log } from "../core/platform.ts";
import { explained, quote } from "../lib/file-error.ts";
import { imageDefect } from "../lib/image-defect.ts";
import { extensionFor, imageType, mediaType } from "../lib/image-type.ts";
import { join } from "../lib/path.ts";
import { followLinks } from "../lib/real-path.ts";
import { encodeSessionKey } from "../lib/session-key.ts";
import { oneLine } from "../lib/text.ts";

const MIB = 1024 * 1024;
const MAX_BYTES = 20 * MIB;
const DAY_MS = 24 * 60 * 60 * 1000;
const KEPT_MS = 30 * DAY_MS;
const KEPT_BYTES = 1024 * MIB;
const SWEEP_EVERY_MS = DAY_MS;
const LISTED = 100_000;
const LONGEST_NAME = 100;
/** Characters of a SHA-256 in hexadecimal: enough that no two contents ever meet. */
const DIGEST = 32;

export interface MediaStoreOptions {
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly log: Log;
  /** Absolute and real. */
  readonly workspace: string;
}

interface Found {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

function nameOf(source: MediaSource): string | undefined {
  const whole = source.name ?? ("path" in source ? source.path : "");
  const last = whole.split(/[/\\]/).at(-1) ?? "";
  return oneLine(last.toWellFormed(), LONGEST_NAME) || undefined;
}

function limitOf({ imagesOnly = false }: MediaSource): number {
  return imagesOnly ? MAX_IMAGE_BYTES : MAX_BYTES;
}

function inMib(bytes: number): string {
  return `${Math.ceil((bytes / MIB) * 100) / 100} MiB`;
}

/** How a refusal begins. */
function refused(source: MediaSource): string {
  return `Cannot attach ${"path" in source ? quote(source.path) : quote(nameOf(source) ?? "the file")}`;
}

function checkSize(bytes: number, source: MediaSource): void {
  if (bytes === 0) throw new UserError(`${refused(source)}: it is empty`);
  const limit = limitOf(source);
  if (bytes <= limit) return;
  throw new UserError(`${refused(source)}: it has ${inMib(bytes)}, and the most is ${inMib(limit)}`);
}

/** Before anything is opened: opening a pipe or a device can hang or act. */
function checkFile(stat: FileStat | undefined, source: MediaSource): void {
  if (stat === undefined) throw new UserError(`${refused(source)}: there is nothing there`);
  if (stat.kind === "directory") throw new UserError(`${refused(source)}: it is a folder`);
  if (stat.kind !== "file") {
    throw new UserError(`${refused(source)}: it is a device, a pipe or a socket, not a regular file`);
  }
  checkSize(stat.bytes, source);
}

export function createMediaStore({ files, clock, log, workspace }: MediaStoreOptions): MediaStore {
  const all = join(workspace, "media");
  let sweptAt = Number.NEGATIVE_INFINITY;

  async function load(source: MediaSource): Promise<Uint8Array> {
    if ("bytes" in source) return source.bytes;
    return explained("attach", source.path, async () => {
      checkFile(await files.stat(source.path), source);
      // One byte more than may be: the file can have grown since.
      return files.read(source.path, { end: limitOf(source) + 1 });
    });
  }

  /** A link on the way could lead the file anywhere, and no image is ever read from outside. */
  async function folderFor(channel: string): Promise<string> {
    const folder = join(all, encodeSessionKey(channel));
    return explained("make the folder", folder, async () => {
      if ((await followLinks(files, folder)) !== folder) {
        throw new UserError(`Cannot keep files in ${quote(folder)}: a link leads elsewhere`, {
          hint: 'Make "media" and the folders in it real folders of the workspace',
        });
      }
      await files.makeFolder(folder, { mode: 0o700 });
      return folder;
    });
  }

  /** Written even when it is there: it is new again then, and surely holds what its name says. */
  async function store(path: string, bytes: Uint8Array): Promise<void> {
    await explained("write", path, async () => {
      if ((await files.linkStat(path))?.kind === "link") await files.remove(path);
      await files.replace(path, bytes, { mode: 0o600 });
    });
  }

  async function foldersOf(folder: string): Promise<readonly string[]> {
    if ((await files.linkStat(folder))?.kind !== "directory") return [];
    const { entries } = await files.list(folder, { limit: LISTED });
    return entries.filter(({ kind }) => kind === "directory").map(({ name }) => join(folder, name));
  }

  async function filesOf(folder: string): Promise<readonly Found[]> {
    const { entries } = await files.list(folder, { limit: LISTED });
    const paths = entries.filter(({ kind }) => kind === "file").map(({ name }) => join(folder, name));
    const stats = await Promise.all(paths.map((path) => files.linkStat(path)));
    return paths.flatMap((path, index) => {
      const stat = stats[index];
      return stat === undefined ? [] : [{ path, bytes: stat.bytes, modifiedMs: stat.modifiedMs }];
    });
  }

  async function tidy(): Promise<void> {
    const now = clock.now();
    if (now - sweptAt < SWEEP_EVERY_MS) return;
    sweptAt = now;
    const found: Found[] = [];
    for (const folder of await foldersOf(all)) found.push(...(await filesOf(folder)));
    let kept = 0;
    for (const { path, bytes, modifiedMs } of found.sort((a, b) => b.modifiedMs - a.modifiedMs)) {
      kept += bytes;
      if (kept <= KEPT_BYTES && now - modifiedMs <= KEPT_MS) continue;
      // One that cannot be removed must not keep the others.
      await files
        .remove(path)
        .catch((error: unknown) => log.warn("Could not remove old media", { path, error }));
    }
  }

  return {
    tidy,

    async save(source) {
      const bytes = await load(source);
      checkSize(bytes.length, source);
      const image = imageType(bytes);
      const defect = image && imageDefect(bytes, image);
      if (source.imagesOnly) {
        const why = image === undefined ? "it is no PNG, JPEG, GIF or WebP image" : defect;
        if (why !== undefined) throw new UserError(`${refused(source)}: ${why}`);
      }
      await tidy().catch((error: unknown) => log.warn("Could not remove old media", { error }));
      // As a file it may still be of use; as an image it would spoil every request that shows it.
      const mime = defect === undefined ? mediaType(bytes) : "application/octet-stream";
      const digest = createHash("sha256").update(bytes).digest("hex").slice(0, DIGEST);
      const path = join(await folderFor(source.channel), `${digest}${extensionFor(mime)}`);
      await store(path, bytes);
      const name = nameOf(source);
      return { path, mime, ...(name === undefined ? {} : { name }) };
    },
  };
}

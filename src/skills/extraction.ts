/** Puts the built-in skills where commands can run their scripts, and sees to it that they stay what they are. */

import type { Assets, Clock, FileStat, FileSystem, Log } from "../core/platform.ts";
import { asBuffer } from "../lib/bytes.ts";
import { errorCode } from "../lib/error-code.ts";
import { folderEntries } from "../lib/folder-entries.ts";
import { BUILT_IN_SKILLS } from "../lib/own-places.ts";
import { dirname, join } from "../lib/path.ts";
import { isSameFile } from "../lib/same-file.ts";
import type { BuiltInTree, OpenTree } from "./built-in-tree.ts";

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const SCRIPT_MODE = 0o700;

/** Other processes may be at the same. */
const TRIES = 5;
/** What was begun so long ago was cut off. */
const LEFT_BEHIND_MS = 3_600_000;
/** A full or read-only disk stays so for a while. */
const TRY_AGAIN_MS = 60_000;
const MOST_LISTED = 1_000;

export interface ExtractionOptions {
  readonly files: FileSystem;
  readonly assets: Pick<Assets, "bytes">;
  readonly tree: OpenTree;
  readonly log: Log;
  readonly clock: Pick<Clock, "elapsed" | "now">;
  /** Absolute and real. */
  readonly workspace: string;
}

/** To the folder that holds them, absolute and by its digest, or `undefined` where they cannot be put. Reported once. */
export type Extract = () => Promise<string | undefined>;

export function createExtraction({
  files,
  assets,
  tree: openTree,
  log,
  clock,
  workspace,
}: ExtractionOptions): Extract {
  const all = join(workspace, BUILT_IN_SKILLS);
  /** What is there was compared byte by byte when it looked like this. */
  let seen: readonly FileStat[] | undefined;
  let hasTidied = false;
  let failedAt: number | undefined;
  let isReported = false;
  let running: Promise<string | undefined> | undefined;

  /** Of everything in the tree, or `undefined` where something is missing. */
  async function look({ files: inTree, folders }: BuiltInTree, root: string) {
    const stats: FileStat[] = [];
    for (const path of ["", ...folders, ...inTree.map((file) => file.path)]) {
      const stat = await files.linkStat(join(root, path));
      if (stat === undefined) return undefined;
      stats.push(stat);
    }
    return stats;
  }

  async function isAsSeen(tree: BuiltInTree, root: string): Promise<boolean> {
    if (seen === undefined) return false;
    const now = await look(tree, root);
    const isSame = (one: FileStat, other = one) => isSameFile(one, other) && one.mode === other.mode;
    return now !== undefined && seen.every((one, index) => isSame(one, now[index]));
  }

  /** Nothing is missing, nothing else is there, and every byte is right. Some disks keep no modes. */
  async function isWhole(tree: BuiltInTree, root: string, options: { modes: boolean }): Promise<boolean> {
    try {
      return await compare(tree, root, options);
    } catch (error) {
      // Another process moved it away meanwhile.
      if (["ENOENT", "ENOTDIR", "EISDIR"].includes(errorCode(error) ?? "")) return false;
      throw error;
    }
  }

  async function compare(tree: BuiltInTree, root: string, { modes }: { modes: boolean }): Promise<boolean> {
    const expected = new Map<string, readonly string[]>();
    for (const path of [...tree.folders, ...tree.files.map((file) => file.path)]) {
      const folder = path.includes("/") ? dirname(path) : "";
      expected.set(folder, [...(expected.get(folder) ?? []), path]);
    }
    for (const [folder, paths] of expected) {
      if ((await files.linkStat(join(root, folder)))?.kind !== "directory") return false;
      const { entries, more } = await files.list(join(root, folder), { limit: paths.length });
      if (more || entries.length !== paths.length) return false;
    }
    for (const { path, isScript } of tree.files) {
      const at = join(root, path);
      const bytes = await assets.bytes("skills", path);
      const stat = await files.linkStat(at);
      if (stat?.kind !== "file" || stat.bytes !== bytes.length) return false;
      if (modes && isScript && (stat.mode & 0o100) === 0) return false;
      if (!asBuffer(await files.read(at, { end: bytes.length })).equals(asBuffer(bytes))) return false;
    }
    return true;
  }

  async function write(tree: BuiltInTree, root: string): Promise<void> {
    await files.makeFolder(root, { mode: FOLDER_MODE });
    for (const folder of tree.folders) await files.makeFolder(join(root, folder), { mode: FOLDER_MODE });
    for (const { path, isScript } of tree.files) {
      const bytes = await assets.bytes("skills", path);
      await files.replace(join(root, path), bytes, { mode: isScript ? SCRIPT_MODE : FILE_MODE });
    }
  }

  /** All at once, so that nobody finds a part of it. `isDamaged`: what is there is not to stay. */
  async function make(tree: BuiltInTree, root: string, isDamaged: boolean): Promise<void> {
    const made = `${root}.new-${crypto.randomUUID()}`;
    try {
      await write(tree, made);
      // Somebody else may have repaired it, and uses it already.
      if (isDamaged && (await isWhole(tree, root, { modes: true }))) await files.remove(made);
      else {
        if (isDamaged) await moveAway(root);
        await files.rename(made, root);
      }
    } catch (error) {
      await files.remove(made);
      // Somebody else was faster, and what they made is looked at next.
      if (!["EEXIST", "ENOTEMPTY"].includes(errorCode(error) ?? "")) throw error;
    }
  }

  /** Moved before it is removed: a file of it may be in use, and a half-removed folder would be found. */
  async function moveAway(root: string): Promise<void> {
    const away = `${root}.old-${crypto.randomUUID()}`;
    try {
      await files.rename(root, away);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return;
      throw error;
    }
    await files.remove(away);
  }

  async function refuseLink(): Promise<void> {
    const kind = (await files.linkStat(all))?.kind;
    if (kind !== undefined && kind !== "directory") throw new Error(`${BUILT_IN_SKILLS} is not a folder`);
  }

  async function ensure(): Promise<string | undefined> {
    const tree = await openTree();
    const root = join(all, tree.digest);
    await refuseLink();
    if (await isAsSeen(tree, root)) return root;
    // It is for somebody else to make.
    if ((await files.stat(workspace))?.kind !== "directory") return undefined;
    for (let tries = 0; tries < TRIES; tries++) {
      // Before it is compared: what comes in between shows as another change.
      const isThere = (await files.linkStat(root)) !== undefined;
      const now = isThere ? await look(tree, root) : undefined;
      if (now !== undefined && (await isWhole(tree, root, { modes: tries === 0 }))) {
        seen = now;
        return root;
      }
      await make(tree, root, isThere);
    }
    throw new Error(`what is in ${BUILT_IN_SKILLS} changes all the time`);
  }

  /** Those of other versions, once: two versions that run at the same time leave each other's alone afterwards. */
  async function tidy(digest: string): Promise<void> {
    const { entries } = await folderEntries(files, all, MOST_LISTED);
    for (const { name } of entries) {
      const path = join(all, name);
      const changed = (await files.linkStat(path))?.modifiedMs ?? 0;
      const isBeingMade = /\.(?:new|old)-/.test(name) && clock.now() - changed < LEFT_BEHIND_MS;
      if (name !== digest && !isBeingMade) await files.remove(path);
    }
  }

  async function attempt(): Promise<string | undefined> {
    if (failedAt !== undefined && clock.elapsed() - failedAt < TRY_AGAIN_MS) return undefined;
    try {
      const root = await ensure();
      failedAt = undefined;
      if (root === undefined || hasTidied) return root;
      hasTidied = true;
      await tidy((await openTree()).digest).catch((error: unknown) => {
        log.warn("Could not remove built-in skills of another version", { path: all, error });
      });
      return root;
    } catch (error) {
      failedAt = clock.elapsed();
      if (!isReported) log.warn("Could not put the built-in skills into the workspace", { path: all, error });
      isReported = true;
      return undefined;
    }
  }

  return () => {
    running ??= attempt().finally(() => {
      running = undefined;
    });
    return running;
  };
}

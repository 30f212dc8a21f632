/** What a sandbox shows of the system: programs, libraries and settings, without what only some may read. */

import type { FileKind, FileSystem } from "../../core/platform.ts";
import { folderEntries } from "../../lib/folder-entries.ts";
import { isInside } from "../../lib/inside.ts";
import { join } from "../../lib/path.ts";
import { followLinks } from "../../lib/real-path.ts";
import type { Mount } from "./mounts.ts";

const FOLDERS = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/etc",
  "/opt",
  "/nix",
  "/gnu",
  "/run/current-system",
  "/var/lib/ca-certificates",
];

/** Often links to what a service of the system writes, in a folder that is not shown. */
const LINKED_FILES = ["/etc/resolv.conf", "/etc/hosts", "/etc/localtime"];

/**
 * Where other programs keep keys and passwords. The sandbox runs as the same user as nanobot, who may be
 * the one that can read them. How deep is looked, and at how many entries, is bounded.
 */
const SETTINGS: readonly { readonly folder: string; readonly depth: number }[] = [
  { folder: "/etc", depth: 3 },
  { folder: "/opt", depth: 2 },
];
const LISTED = 2_000;

const OTHERS_READ = 0o004;
const OTHERS_ENTER = 0o001;

export async function systemMounts(files: FileSystem): Promise<readonly Mount[]> {
  const mounts: Mount[] = [];
  for (const path of FOLDERS) {
    const mount = await asItIs(files, path);
    if (mount !== undefined) mounts.push(mount);
  }
  const shown = mounts.map(({ path }) => path);
  for (const path of LINKED_FILES) {
    const real = await followLinks(files, path);
    const isThere = (await files.stat(real)) !== undefined;
    if (isThere && !shown.some((folder) => isInside(folder, real))) mounts.push({ kind: "ro", path: real });
  }
  for (const { folder, depth } of SETTINGS) mounts.push(...(await closedBelow(files, folder, depth)));
  return mounts;
}

/** Where `/bin` is a link to `usr/bin`, it is one in the sandbox too. */
async function asItIs(files: FileSystem, path: string): Promise<Mount | undefined> {
  const kind = (await files.linkStat(path))?.kind;
  if (kind === "directory") return { kind: "ro", path };
  if (kind !== "link") return undefined;
  const real = await followLinks(files, path);
  const isShown = FOLDERS.some((folder) => folder !== path && isInside(folder, real));
  return isShown ? { kind: "link", path, target: await files.readLink(path) } : { kind: "ro", path };
}

/** What not everybody on the machine may read. */
async function closedBelow(files: FileSystem, folder: string, depth: number): Promise<readonly Mount[]> {
  if ((await files.linkStat(folder))?.kind !== "directory") return [];
  // What nanobot cannot look into, its commands cannot either.
  const { entries } = await folderEntries(files, folder, LISTED);
  const found = await Promise.all(entries.map((entry) => closed(files, folder, entry, depth)));
  return found.flat();
}

async function closed(
  files: FileSystem,
  folder: string,
  { name, kind }: { readonly name: string; readonly kind: FileKind },
  depth: number,
): Promise<readonly Mount[]> {
  if (kind === "link") return [];
  const path = join(folder, name);
  const mode = (await files.linkStat(path))?.mode ?? 0o777;
  if (kind !== "directory") return (mode & OTHERS_READ) === 0 ? [{ kind: "hidden-file", path }] : [];
  if ((mode & OTHERS_ENTER) === 0) return [{ kind: "hidden-folder", path }];
  return depth > 1 ? closedBelow(files, path, depth - 1) : [];
}

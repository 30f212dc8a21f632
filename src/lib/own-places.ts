/** What in and beside the workspace is nanobot's own, for everything that keeps tools away from it. */

import type { FileSystem } from "../core/platform.ts";
import { basename, dirname, isAbsolute, join } from "./path.ts";
import { followLinks } from "./real-path.ts";

/** Below the workspace. */
export const HIDDEN = ".nanobot";
/** Where built-in skills are, with the scripts that commands run. */
export const BUILT_IN_SKILLS = join(HIDDEN, "skills");
const READ_ONLY = ["sessions", "cron/jobs.json"];
/** In a folder that is the agent's to write otherwise. The second is there only where the original was. */
const HISTORIES = [
  { path: "memory/HISTORY.md", mayBeMade: true },
  { path: "memory/history.jsonl", mayBeMade: false },
];

export interface OwnPlaces {
  /** Neither read nor written by tools; its backups, which `configFiles` finds, neither. */
  readonly configFile: string;
  /** The folder of nanobot's own, closed like that but for `readable` and the results of a session's own tools. */
  readonly hidden: string;
  /** Below `hidden`: read by tools and run by commands, and written by nanobot alone. */
  readonly readable: string;
  /** Read by tools, and written by nanobot alone. */
  readonly readOnly: readonly string[];
  /**
   * The folders that hold them, but for `readOnlyFiles`: where a single file is closed, it can be moved away with what is
   * around it.
   */
  readonly readOnlyFolders: readonly string[];
  /** Those beside which tools may write. Where one is missing, an empty one may be made of some. */
  readonly readOnlyFiles: readonly { readonly path: string; readonly mayBeMade: boolean }[];
  /** Written by tools too, and what it said before is kept. */
  readonly facts: string;
}

/** As they are named. Where each really is may change while nanobot runs. */
export function ownPlaces({
  workspace,
  configFile,
}: {
  readonly workspace: string;
  readonly configFile: string;
}): OwnPlaces {
  const readOnly = READ_ONLY.map((path) => join(workspace, path));
  const readOnlyFiles = HISTORIES.map(({ path, mayBeMade }) => ({ path: join(workspace, path), mayBeMade }));
  return {
    configFile,
    hidden: join(workspace, HIDDEN),
    readable: join(workspace, BUILT_IN_SKILLS),
    readOnly: [...readOnly, ...readOnlyFiles.map(({ path }) => path)],
    readOnlyFolders: readOnly.map((path) => (dirname(path) === workspace ? path : dirname(path))),
    readOnlyFiles,
    facts: join(workspace, "memory", "MEMORY.md"),
  };
}

/**
 * Where a place that is open below a closed one really is. `undefined` where a link stands in its stead: it would open
 * whatever that leads to.
 */
export async function openPlace(
  files: Pick<FileSystem, "linkStat" | "readLink" | "realPath">,
  path: string,
): Promise<string | undefined> {
  const [real, folder] = await Promise.all([followLinks(files, path), followLinks(files, dirname(path))]);
  return real === join(folder, basename(path)) ? real : undefined;
}

/** How the copies of a configuration that was changed are named. */
export const BACKUP = ".bak-";

/** More copies than anybody keeps. */
const LISTED = 2_000;

/** A path as the owner writes it: absolute, with `~/`, or relative to the workspace. */
export function ownerPath(
  path: string,
  { workspace, home }: { readonly workspace: string; readonly home: string | undefined },
): string | undefined {
  if (path !== "~" && !path.startsWith("~/")) return isAbsolute(path) ? path : join(workspace, path);
  return home !== undefined && isAbsolute(home) ? join(home, path.slice(1)) : undefined;
}

/**
 * Some file systems take names for the same that differ in case or in how accents are written, so `SESSIONS`
 * opens `sessions`. Folded everywhere, since refusing a second spelling of a name we keep for ourselves costs
 * little. To upper case and from there to lower case, because some letters meet others only on one of the two
 * ways: the long s becomes an s by way of S, the Kelvin sign becomes a k in lower case.
 */
export function foldPath(path: string): string {
  return path.normalize("NFD").toUpperCase().toLowerCase();
}

/** The configuration and its backups, each as it is named and where it really is. */
export async function configFiles(files: FileSystem, configFile: string): Promise<readonly string[]> {
  const real = await followLinks(files, configFile);
  const found = new Set([configFile, real]);
  for (const path of [...found]) {
    const folder = dirname(path);
    if ((await files.stat(folder))?.kind !== "directory") continue;
    const { entries } = await files.list(folder, { limit: LISTED });
    for (const { name } of entries) {
      if (name.startsWith(basename(path) + BACKUP)) found.add(join(folder, name));
    }
  }
  return [...found];
}

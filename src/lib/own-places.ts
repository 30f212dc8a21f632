/** What in and beside the workspace is nanobot's own, for everything that keeps tools away from it. */

import type { FileSystem } from "../core/platform.ts";
import { basename, dirname, isAbsolute, join } from "./path.ts";
import { followLinks } from "./real-path.ts";

/** Below the workspace: neither read nor written by tools, but for the results of their own session. */
export const HIDDEN = ".nanobot";

/** Below the workspace: read by tools, and written by nanobot alone. */
export const READ_ONLY: readonly string[] = ["sessions", "cron/jobs.json"];

/** The folders that hold them: where a single file is closed, it can be moved away with what is around it. */
export const READ_ONLY_FOLDERS: readonly string[] = ["sessions", "cron"];

/** How the copies of a configuration that was changed are named. */
const BACKUP = ".bak-";

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

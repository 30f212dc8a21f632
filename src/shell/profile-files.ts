/** Whether the files that a login shell reads before a command may have been written by tools. */

import type { FileSystem } from "../core/platform.ts";
import { isInside } from "../lib/inside.ts";
import { join } from "../lib/path.ts";
import { followLinks } from "../lib/real-path.ts";

/** In the home folder. The last two are usually read by the others, and at the end. */
const PROFILES = [".profile", ".bash_profile", ".bash_login", ".bashrc", ".bash_logout"];

export interface ProfilePlace {
  /** Of the command. `undefined` where the shell works it out. */
  readonly home: string | undefined;
  /** Where tools can write, real; `everywhere` where they are not kept to some folders. */
  readonly writable: readonly string[] | "everywhere";
}

/** What is written there is run by whatever command comes after, and nobody judges it. */
export async function canWriteProfiles(
  files: FileSystem,
  { home, writable }: ProfilePlace,
): Promise<boolean> {
  if (home === undefined || writable === "everywhere") return true;
  const paths = await Promise.all(["", ...PROFILES].map((name) => followLinks(files, join(home, name))));
  return paths.some((path) => writable.some((folder) => isInside(folder, path)));
}

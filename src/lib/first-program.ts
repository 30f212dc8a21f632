/** Finds a program where nobody but the system's owner can put one. */

import type { FileSystem } from "../core/platform.ts";

/** Where a system has its programs. Not PATH, which may lead into folders that commands can write. */
const FOLDERS: readonly string[] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/** In the first of them that has it. */
export async function firstProgram(
  files: Pick<FileSystem, "stat">,
  name: string,
): Promise<string | undefined> {
  for (const folder of FOLDERS) {
    const found = await files.stat(`${folder}/${name}`);
    if (found?.kind === "file" && (found.mode & 0o111) !== 0) return `${folder}/${name}`;
  }
  return undefined;
}

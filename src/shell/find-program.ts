/** Whether the model's commands can run a program of a name. */

import type { FileSystem } from "../core/platform.ts";
import { errorCode } from "../lib/error-code.ts";
import { isAbsolute, join } from "../lib/path.ts";
import { type ShellEnvironment, shortEnvironment } from "./shell-environment.ts";

export interface ProgramFinderOptions extends ShellEnvironment {
  readonly files: Pick<FileSystem, "stat">;
}

/** Looks into the folders of the PATH that commands get. Never rejects for what is there. */
export function createProgramFinder({
  files,
  ...environment
}: ProgramFinderOptions): (name: string) => Promise<boolean> {
  const folders = (shortEnvironment(environment)["PATH"] ?? "").split(":").filter(isAbsolute);

  async function isProgram(path: string): Promise<boolean> {
    try {
      const found = await files.stat(path);
      return found?.kind === "file" && (found.mode & 0o111) !== 0;
    } catch (error) {
      // A folder that we cannot look into is none in which a command would find it.
      if (["EACCES", "ELOOP", "ENAMETOOLONG", "EPERM"].includes(errorCode(error) ?? "")) return false;
      throw error;
    }
  }

  return async (name) => {
    if (name === "" || name.includes("/") || name.includes("\0")) return false;
    for (const folder of folders) if (await isProgram(join(folder, name))) return true;
    return false;
  };
}

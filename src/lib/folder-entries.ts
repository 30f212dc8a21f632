/** What is in a folder, also where that is closed or gone. */

import type { FileSystem } from "../core/platform.ts";
import { errorCode } from "./error-code.ts";

type Listing = Awaited<ReturnType<FileSystem["list"]>>;

/** What is no folder, or closed to us, holds nothing that we or what we start could come upon. */
export async function folderEntries(
  files: Pick<FileSystem, "list">,
  folder: string,
  limit: number,
): Promise<Listing> {
  try {
    return await files.list(folder, { limit });
  } catch (error) {
    if (["EACCES", "ENOENT", "ENOTDIR", "EPERM"].includes(errorCode(error) ?? "")) {
      return { entries: [], more: false };
    }
    throw error;
  }
}

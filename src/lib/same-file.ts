/** Whether a file is the one that was looked at before, as far as that shows without reading it. */

import type { FileStat } from "../core/platform.ts";

type Seen = Pick<FileStat, "modifiedMs" | "bytes" | "inode">;

export function isSameFile(seen: Seen, now: Seen): boolean {
  return seen.modifiedMs === now.modifiedMs && seen.bytes === now.bytes && seen.inode === now.inode;
}

/** Whether a session knows the file that it is about to change. */

import type { ReadLog, RealPath, ToolFiles } from "../core/tool.ts";
import { errorCode } from "../lib/error-code.ts";
import { quote } from "../lib/file-error.ts";
import { isSameFile } from "../lib/same-file.ts";
import type { TargetFile } from "./target-file.ts";

/** A line to put below the result, or nothing. A warning only: the change itself may be right all the same. */
export function unreadWarning(reads: ReadLog, { path, shown, stat }: TargetFile): string {
  if (stat === undefined || stat.bytes === 0) return "";
  const seen = reads.seen(path);
  if (seen === undefined) {
    return `\n(Warning: ${quote(shown)} had not been read in this session; check with read_file that it is as you expect)`;
  }
  if (isSameFile(seen, stat)) return "";
  return `\n(Warning: ${quote(shown)} had changed since it was last read; read it again before you go on)`;
}

/** What the session wrote it knows, though it was not shown. */
export async function recordWritten(files: ToolFiles, reads: ReadLog, path: RealPath): Promise<void> {
  try {
    const stat = await files.system.stat(path);
    if (stat !== undefined) reads.record(path, stat);
  } catch (error) {
    // What is there now is not what was written, and that it was written is true all the same.
    if (errorCode(error) !== "ESTALE") throw error;
  }
}

/** Reads a text that the owner keeps in the workspace. */

import { UserError } from "../core/errors.ts";
import type { FileStat, FileSystem } from "../core/platform.ts";
import { decodeText } from "../lib/charset.ts";
import { errorCode } from "../lib/error-code.ts";
import { explained, quote } from "../lib/file-error.ts";
import { isInside } from "../lib/inside.ts";
import { HIDDEN } from "../lib/own-places.ts";
import { join } from "../lib/path.ts";
import { isSameFile } from "../lib/same-file.ts";

export interface WorkspaceText {
  readonly text: string;
  /** There is more of it, which was not read. */
  readonly isCut: boolean;
}

export interface WorkspaceTextOptions {
  readonly files: FileSystem;
  /** Absolute and real. */
  readonly workspace: string;
  /** Below the workspace. */
  readonly name: string;
  /** In bytes. More is not read. */
  readonly longest: number;
}

/**
 * A function that gives the text as it is now, and the same object as long as it has not changed; `undefined` when there
 * is none. Rejects with a `UserError` for what the system refuses, and for a link that leads to where the model's own
 * tools may not read: any command can make one.
 */
export function createWorkspaceText({
  files,
  workspace,
  name,
  longest,
}: WorkspaceTextOptions): () => Promise<WorkspaceText | undefined> {
  const path = join(workspace, name);
  let seen: { readonly real: string; readonly stat: FileStat; readonly text: WorkspaceText } | undefined;

  async function read(): Promise<WorkspaceText | undefined> {
    const real = await files.realPath(path);
    if (!isInside(workspace, real) || isInside(join(workspace, HIDDEN), real)) {
      throw new UserError(`Cannot read ${quote(path)}: it is a link that leads out of the workspace`);
    }
    // Before it is read: what comes in between shows as another change.
    const stat = await files.stat(real);
    if (stat === undefined) return undefined;
    if (seen?.real === real && isSameFile(seen.stat, stat)) return seen.text;
    // A pipe or a device would never be at its end.
    if (stat.kind !== "file") throw new UserError(`Cannot read ${quote(path)}: it is not a regular file`);
    const bytes = await files.read(real, { end: longest });
    const text = { text: decodeText(bytes, "", { markup: false }), isCut: stat.bytes > longest };
    seen = { real, stat, text };
    return text;
  }

  return () =>
    explained("read", path, async () => {
      try {
        return await read();
      } catch (error) {
        if (errorCode(error) === "ENOENT") return undefined;
        throw error;
      }
    });
}

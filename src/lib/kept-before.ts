/** Keeps what a file says before tools put something in its place, so that no model loses it for good. */

import { UserError } from "../core/errors.ts";
import type { FileSystem } from "../core/platform.ts";
import type { PinnedFiles } from "../core/tool.ts";
import { isInside } from "./inside.ts";
import { foldPath } from "./own-places.ts";
import { basename, dirname, join } from "./path.ts";
import { followLinks } from "./real-path.ts";

export interface KeptBeforeOptions {
  readonly system: Pick<FileSystem, "linkStat" | "readLink" | "realPath">;
  /** The file, absolute. A link in its place is another's file, and not followed. */
  readonly path: string;
  /** Called before it is replaced by `next`, or removed. What it throws stops that. */
  readonly keep: (next?: Uint8Array) => Promise<void>;
}

/** `files` that call `keep` in time, and load nothing for any other file. */
export function keptBefore(files: PinnedFiles, { system, path, keep }: KeptBeforeOptions): PinnedFiles {
  const name = foldPath(basename(path));

  /** Asked anew each time: its folder may be moved, and be a link then. */
  async function place(): Promise<string> {
    return foldPath(join(await followLinks(system, dirname(path)), basename(path)));
  }

  async function kept(next?: Uint8Array): Promise<void> {
    try {
      await keep(next);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      throw new UserError(
        `${error.message}, so that no version of it can be kept; nothing was changed. Move it aside first`,
        { cause: error },
      );
    }
  }

  return {
    ...files,
    async replace(at, bytes, options) {
      const folded = foldPath(at);
      if (basename(folded) === name && folded === (await place())) await kept(bytes);
      await files.replace(at, bytes, options);
    },
    async remove(at) {
      if (isInside(foldPath(at), await place())) await kept();
      await files.remove(at);
    },
  };
}

/** The whole text of a file that is to be changed. */

import { UserError } from "../core/errors.ts";
import type { ToolFiles } from "../core/tool.ts";
import { explained, quote } from "../lib/file-error.ts";
import type { TargetFile } from "./target-file.ts";

/** The text is in memory several times while it is changed, also on a machine that has little. */
const LARGEST_BYTES = 16 * 1024 * 1024;

export interface TextContent {
  readonly bytes: Uint8Array;
  /** With the byte order mark as a character, so that encoding gives the same bytes again. */
  readonly text: string;
}

/** Throws a `UserError` for what is too large or no text. `named` is the path as the model wrote it. */
export async function readText(files: ToolFiles, target: TargetFile, named: string): Promise<TextContent> {
  const refused = `Cannot edit ${quote(named)}`;
  const tooLarge = () =>
    new UserError(`${refused}: it is larger than ${LARGEST_BYTES / 1024 / 1024} MiB; use exec with sed`);
  if (target.stat !== undefined && target.stat.bytes > LARGEST_BYTES) throw tooLarge();
  const bytes = await explained("edit", named, () =>
    // One byte more than allowed: a file that grew meanwhile must not be cut when it is written back.
    files.system.read(target.path, { end: LARGEST_BYTES + 1 }),
  );
  if (bytes.length > LARGEST_BYTES) throw tooLarge();
  try {
    return { bytes, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (cause) {
    throw new UserError(`${refused}: it is not UTF-8 text, and editing would damage it`, { cause });
  }
}

/** Files on their way to Telegram: as what each is sent, and which are too large. */

import { SendError } from "../../core/channel.ts";
import type { Media } from "../../core/messages.ts";
import type { FileSystem } from "../../core/platform.ts";
import { quote } from "../../lib/file-error.ts";
import { basename } from "../../lib/path.ts";
import { oneLine, wellFormed } from "../../lib/text.ts";

type UploadKind = "photo" | "animation" | "voice" | "audio" | "video" | "document";

export interface Upload {
  readonly kind: UploadKind;
  readonly path: string;
  readonly name: string;
}

const MIB = 1024 * 1024;
const MOST_BYTES = 50 * MIB;
const MOST_PHOTO_BYTES = 10 * MIB;

const kinds: Readonly<Record<string, UploadKind>> = {
  "image/jpeg": "photo",
  "image/png": "photo",
  "image/webp": "photo",
  "image/gif": "animation",
  "audio/ogg": "voice",
  "audio/mpeg": "audio",
  "audio/mp4": "audio",
  "video/mp4": "video",
};

/** Without what ends a name in the header of a part. */
function nameOf({ name, path }: Media): string {
  return oneLine(wellFormed(name ?? ""), 100).replace(/["\\/;]/g, "_") || basename(path);
}

/** Rejects with a `SendError` `refused` for what Telegram would not take. */
export async function uploadOf(media: Media, files: Pick<FileSystem, "stat">): Promise<Upload> {
  const name = nameOf(media);
  const stat = await files.stat(media.path);
  if (stat?.kind !== "file") throw new SendError("refused", `The file ${quote(name)} is not there any more`);
  if (stat.bytes === 0) throw new SendError("refused", `The file ${quote(name)} is empty`);
  if (stat.bytes > MOST_BYTES) {
    throw new SendError(
      "refused",
      `The file ${quote(name)} is larger than 50 MB, the most that a bot can send`,
    );
  }
  const kind = kinds[media.mime] ?? "document";
  const isLarge = kind === "photo" && stat.bytes > MOST_PHOTO_BYTES;
  return { kind: isLarge ? "document" : kind, path: media.path, name };
}

/** Shows an image of the workspace to the model. */

import { MAX_IMAGE_BYTES } from "../core/media.ts";
import type { Image } from "../core/model.ts";
import { type ToolFiles, type ToolResult, toolError, toolOk } from "../core/tool.ts";
import { asBuffer } from "../lib/bytes.ts";
import { quote } from "../lib/file-error.ts";
import { imageDefect } from "../lib/image-defect.ts";
import type { TargetFile } from "./target-file.ts";

export async function readImage(
  { system }: ToolFiles,
  { path, shown, stat }: TargetFile,
  mime: Image["mime"],
): Promise<ToolResult> {
  const tooLarge = (bytes: number) =>
    toolError(
      `Cannot show ${quote(shown)}: the image has ${bytes} bytes, and the most is ${MAX_IMAGE_BYTES}; make a smaller one of it first`,
    );
  if (stat !== undefined && stat.bytes > MAX_IMAGE_BYTES) return tooLarge(stat.bytes);
  // One byte more than may be: it can have grown since.
  const bytes = await system.read(path, { end: MAX_IMAGE_BYTES + 1 });
  if (bytes.length > MAX_IMAGE_BYTES) return tooLarge(bytes.length);
  const defect = imageDefect(bytes, mime);
  if (defect !== undefined) return toolError(`Cannot show ${quote(shown)}: ${defect}`);
  const data = asBuffer(bytes).toString("base64");
  return toolOk(`(The image ${quote(shown)}: ${mime}, ${bytes.length} bytes)`, {
    images: [{ mime, data, name: shown }],
  });
}

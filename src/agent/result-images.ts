/** What a model sees of the images of a tool's result: in the turn of the call, and in every later one the same. */

import type { Image, ToolMessage } from "../core/model.ts";
import type { ToolResult } from "../core/tool.ts";
import { mediaPath } from "../lib/breadcrumb.ts";
import { imageLeftOut } from "../lib/phrases.ts";
import { createAllowance } from "./image-bounds.ts";

/** `message` with the images of the result, by the names under which later turns find them. */
export function withResultImages(message: ToolMessage, { images = [], media = [] }: ToolResult): ToolMessage {
  if (images.length === 0) return message;
  const named = images.map((image, index) => {
    const kept = media[index];
    return kept === undefined ? image : { ...image, name: mediaPath(kept) };
  });
  const allowance = createAllowance();
  const shown = named.filter(({ data }) => allowance.take(data.length));
  return showImages(
    message,
    named.map(({ name }) => name),
    shown,
  );
}

/** Of the images with these `names` it shows those that there are, and says of the others that they were there. */
export function showImages(
  message: ToolMessage,
  names: readonly string[],
  images: readonly Image[],
): ToolMessage {
  const { images: _, content, ...rest } = message;
  const shown = new Set(images.map(({ name }) => name));
  const absent = names.filter((name) => !shown.has(name)).map(imageLeftOut);
  return {
    ...rest,
    content: [content, ...absent].join("\n"),
    ...(images.length === 0 ? {} : { images }),
  };
}

/** Words that stand for a file beside a message, so that the model knows where it lies and can use its tools on it. */

import type { Media } from "../core/messages.ts";
import type { Image } from "../core/model.ts";
import { oneLine } from "./text.ts";

/** Where every file of ours is: `media/<channel>/<file>` at the end of its path. */
const KEPT = /(?:^|[/\\])media[/\\]([^/\\]+)[/\\]([^/\\]+)$/;

const IMAGE_NAME = /\.(png|jpe?g|gif|webp)$/i;

const LONGEST = 1_000;

const imageTypes: ReadonlySet<string> = new Set<Image["mime"]>([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

/** Whether it is said to be an image that models take. Plain strings, as the original has them, say nothing. */
export function isImage(entry: string | Media): entry is Media {
  return typeof entry !== "string" && imageTypes.has(entry.mime);
}

/**
 * From the workspace for what we keep ourselves, so that it holds when the workspace is moved. The original
 * kept its files elsewhere: its strings stay as they are.
 */
export function mediaPath(entry: string | Media): string {
  if (typeof entry === "string") return entry;
  const [, channel, file] = KEPT.exec(entry.path) ?? [];
  return channel === undefined ? entry.path : `media/${channel}/${file}`;
}

function clean(text: string): string {
  return oneLine(text.toWellFormed(), LONGEST);
}

/** For people: with the name that its sender gave it. */
export function fileLabel(entry: string | Media): string {
  const name = typeof entry === "string" ? "" : clean(entry.name ?? "");
  return name === "" ? breadcrumb(entry) : `${breadcrumb(entry)} ${name}`;
}

/** `[image: media/cli/0a1b.png]`, or `[file: media/cli/0a1b.pdf, application/pdf]`. One line, whatever the path holds. */
export function breadcrumb(entry: string | Media): string {
  const path = clean(mediaPath(entry));
  if (typeof entry === "string") return IMAGE_NAME.test(entry) ? `[image: ${path}]` : `[file: ${path}]`;
  return imageTypes.has(entry.mime) ? `[image: ${path}]` : `[file: ${path}, ${clean(entry.mime)}]`;
}

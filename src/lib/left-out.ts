/** Results of tools that are left out of a prompt to save room: which, and what stands for them. */

import type { Media } from "../core/messages.ts";
import type { Image } from "../core/model.ts";
import { isImage } from "./breadcrumb.ts";
import { leftOutResult } from "./phrases.ts";

/** Shorter ones are not worth it. */
const SHORT_CHARS = 500;

/** A line of a session, which names its images, or the message that is made of it, which holds them. */
interface Result {
  readonly name?: string;
  readonly content: string;
  readonly images?: readonly Image[];
  readonly media?: readonly (string | Media)[];
}

export function isWorthLeavingOut(text: string): boolean {
  return text.length >= SHORT_CHARS;
}

/** A result with an image is: the image alone takes more room than what stands for both. */
export function isResultWorthLeavingOut(result: Result): boolean {
  return isWorthLeavingOut(result.content) || imagesIn(result) > 0;
}

/** Without its images too. */
export function withoutResult<R extends Result>(result: R): Omit<R, "images" | "media"> {
  const { images: _images, media: _media, ...rest } = result;
  const { name, content } = result;
  return { ...rest, content: leftOutResult(name || "a tool", content.length, imagesIn(result)) };
}

function imagesIn({ images = [], media = [] }: Result): number {
  return images.length + media.filter(isImage).length;
}

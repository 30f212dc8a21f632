/** How many images go to a model, and how large they may be: with one message, and with a whole request. */

import { IMAGES_PER_MESSAGE, IMAGES_PER_REQUEST } from "../core/media.ts";

const MIB = 1024 * 1024;
/** Of all images of a request together, in base64. */
const REQUEST_CHARS = 16 * MIB;
/**
 * When there are too many, they go by so many at once, counted from the oldest that is shown: leaving out
 * one with each new one would cost the cached prefix each time.
 */
const STEP_IMAGES = 5;
const STEP_CHARS = 4 * MIB;

/** As much of one message's images as may go to a model at all. */
interface Allowance {
  /** Whether an image of so many characters may go too; if so, it counts. */
  take(chars: number): boolean;
}

export function createAllowance(): Allowance {
  let images = 0;
  let total = 0;
  return {
    take(chars) {
      if (images >= IMAGES_PER_MESSAGE || total + chars > REQUEST_CHARS) return false;
      images++;
      total += chars;
      return true;
    },
  };
}

/** The images of one message. */
export interface ImageGroup {
  readonly images: number;
  readonly chars: number;
}

/** How many of these messages, the oldest first, go without their images. The newest keeps its own. */
export function surplusGroups(groups: readonly ImageGroup[]): number {
  let images = surplus(sum(groups, "images"), IMAGES_PER_REQUEST, STEP_IMAGES);
  let chars = surplus(sum(groups, "chars"), REQUEST_CHARS, STEP_CHARS);
  let count = 0;
  for (const group of groups.slice(0, -1)) {
    if (images <= 0 && chars <= 0) break;
    images -= group.images;
    chars -= group.chars;
    count++;
  }
  return count;
}

/** What `total` has above `most`, rounded up to whole steps. */
function surplus(total: number, most: number, step: number): number {
  return Math.ceil(Math.max(0, total - most) / step) * step;
}

function sum(groups: readonly ImageGroup[], key: keyof ImageGroup): number {
  return groups.reduce((total, group) => total + group[key], 0);
}

/** Files beside messages: how they come into the workspace, where the model's tools find them too. */

import type { Media } from "./messages.ts";

/** The most images that go to a model with one message. */
export const IMAGES_PER_MESSAGE = 8;
/** And with a whole request. Older ones are only named. */
export const IMAGES_PER_REQUEST = 20;

/** Of one image. In base64, which is a third longer, it is the 5 MiB that vendors take. */
export const MAX_IMAGE_BYTES = 3.75 * 1024 * 1024;

/** Of one image, in pixels. Vendors refuse a request with a larger one. */
export const MAX_IMAGE_SIDE = 8_000;

export type MediaSource = {
  /** The channel it came by. */
  readonly channel: string;
  /** What its sender calls it. Without one, the name in `path` is taken. */
  readonly name?: string;
  /** Refuses whatever cannot go to a model as an image. */
  readonly imagesOnly?: boolean;
} & ({ readonly path: string } | { readonly bytes: Uint8Array });

/** The workspace's `media/`. What lies there may be gone after 30 days, or when newer files need the room. */
export interface MediaStore {
  /** Throws a `UserError` for what is no regular file, is empty or too large, and reads none of it then. */
  save(source: MediaSource): Promise<Media>;
  /** Removes what is too old or too much. Looks at most once a day; saving does it too. */
  tidy(): Promise<void>;
}

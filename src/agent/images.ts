/** The images of a conversation as a model takes them: read from `media/`, checked, and bounded. */

import { Buffer } from "node:buffer";
import { IMAGES_PER_MESSAGE, IMAGES_PER_REQUEST } from "../core/media.ts";
import type { Media } from "../core/messages.ts";
import type { ChatMessage, Image } from "../core/model.ts";
import type { FileStat, FileSystem, Log } from "../core/platform.ts";
import type { StoredMessage } from "../core/session.ts";
import { isImage, mediaPath } from "../lib/breadcrumb.ts";
import { imageType } from "../lib/image-type.ts";
import { join, resolve, SEPARATOR } from "../lib/path.ts";
import { toChat } from "../lib/transcript.ts";

const MIB = 1024 * 1024;
/** In base64, which is a third longer, it is the 5 MiB that vendors take. */
export const MAX_IMAGE_BYTES = 3.75 * MIB;
/** Of all images of a request together. */
const REQUEST_CHARS = 16 * MIB;
/**
 * When there are too many, they go by so many at once, counted from the oldest that is shown: leaving out
 * one with each new one would cost the cached prefix each time.
 */
const STEP_IMAGES = 5;
const STEP_CHARS = 4 * MIB;
/** More than a request takes, so that the images of a conversation stay the same objects from turn to turn. */
const CACHED_CHARS = 24 * MIB;

export interface ImageLoaderOptions {
  readonly files: FileSystem;
  readonly log: Log;
  /** Absolute and real. */
  readonly workspace: string;
}

export interface ImageLoader {
  /** The images beside one line. One that is missing, too large or none is left out, and so is what lies outside `media/`. */
  load(line: StoredMessage): Promise<readonly Image[]>;
  /**
   * What the model sees for `lines`. The newest images are with it, and the others are only named. A line
   * whose images are the same as before comes as the same object.
   */
  loadWindow(lines: readonly StoredMessage[]): Promise<readonly ChatMessage[]>;
}

interface Cached {
  readonly stat: FileStat;
  readonly image: Image;
}

/** Images by path, the longest unused first. */
function createImageCache() {
  const entries = new Map<string, Cached>();
  let chars = 0;

  function remove(path: string): void {
    chars -= entries.get(path)?.image.data.length ?? 0;
    entries.delete(path);
  }

  function add(path: string, entry: Cached): void {
    remove(path);
    entries.set(path, entry);
    chars += entry.image.data.length;
    for (const oldest of entries.keys()) {
      if (chars <= CACHED_CHARS) break;
      remove(oldest);
    }
  }

  return {
    add,
    get(path: string, stat: FileStat): Image | undefined {
      const entry = entries.get(path);
      if (entry === undefined) return undefined;
      const { inode, modifiedMs, bytes } = entry.stat;
      if (inode !== stat.inode || modifiedMs !== stat.modifiedMs || bytes !== stat.bytes) return undefined;
      add(path, entry);
      return entry.image;
    },
  };
}

/** What `total` has above `most`, rounded up to whole steps. */
function surplus(total: number, most: number, step: number): number {
  return Math.ceil(Math.max(0, total - most) / step) * step;
}

function areSame(one: readonly Image[], other: readonly Image[]): boolean {
  return one.length === other.length && one.every((image, index) => image === other[index]);
}

// Held by their first image: what the cache lets go of takes the message, and what was made of it, along.
const illustrated = new WeakMap<Image, WeakMap<StoredMessage, ChatMessage>>();

function illustrate(line: StoredMessage, images: readonly Image[]): ChatMessage {
  const message = toChat(line);
  const [first] = images;
  if (first === undefined || message.role !== "user") return message;
  const messages = illustrated.get(first) ?? new WeakMap<StoredMessage, ChatMessage>();
  illustrated.set(first, messages);
  const known = messages.get(line);
  if (known?.role === "user" && areSame(known.images ?? [], images)) return known;
  const made: ChatMessage = { ...message, images };
  messages.set(line, made);
  return made;
}

export function createImageLoader({ files, log, workspace }: ImageLoaderOptions): ImageLoader {
  const root = join(workspace, "media") + SEPARATOR;
  const cache = createImageCache();
  interface Found {
    readonly name: string;
    readonly path: string;
    readonly stat: FileStat;
  }

  function leaveOut(name: string, reason: string, error?: unknown): undefined {
    log.debug("Left an image out", { path: name, reason, ...(error === undefined ? {} : { error }) });
  }

  /** The session file only names an image, and what it names is judged as if a stranger had. */
  async function find(media: Media): Promise<Found | undefined> {
    const name = mediaPath(media);
    try {
      const path = await files.realPath(resolve(workspace, name));
      if (!path.startsWith(root)) return leaveOut(name, "it leads outside media/");
      const stat = await files.stat(path);
      if (stat?.kind !== "file") return leaveOut(name, "it is no regular file");
      if (stat.bytes > MAX_IMAGE_BYTES) return leaveOut(name, "it is too large");
      return { name, path, stat };
    } catch (error) {
      return leaveOut(name, "it cannot be read", error);
    }
  }

  async function read({ name, path, stat }: Found): Promise<Image | undefined> {
    const known = cache.get(path, stat);
    if (known !== undefined) return known;
    try {
      const bytes = await files.read(path, { end: MAX_IMAGE_BYTES });
      const mime = imageType(bytes);
      if (mime === undefined) return leaveOut(name, "it is no image that models take");
      const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
      const image = { mime, data, name };
      cache.add(path, { stat, image });
      return image;
    } catch (error) {
      return leaveOut(name, "it cannot be read", error);
    }
  }

  async function findAll({ role, media = [] }: StoredMessage): Promise<readonly Found[]> {
    const found: Found[] = [];
    if (role !== "user") return found;
    for (const entry of media.filter(isImage).slice(0, IMAGES_PER_MESSAGE)) {
      const image = await find(entry);
      if (image !== undefined && charsOf([...found, image]) <= REQUEST_CHARS) found.push(image);
    }
    return found;
  }

  async function readAll(found: readonly Found[]): Promise<readonly Image[]> {
    const images: Image[] = [];
    for (const one of found) {
      const image = await read(one);
      if (image !== undefined) images.push(image);
    }
    return images;
  }

  return {
    load: async (line) => readAll(await findAll(line)),

    async loadWindow(lines) {
      const pictured = lines.filter((line) => line.role === "user" && line.media?.some(isImage));
      if (pictured.length === 0) return lines.map(toChat);
      const found = new Map<StoredMessage, readonly Found[]>();
      for (const line of pictured) found.set(line, await findAll(line));
      const groups = withoutSurplus([...found]);
      const images = new Map<StoredMessage, readonly Image[]>();
      for (const [line, group] of groups) images.set(line, await readAll(group));
      return lines.map((line) => illustrate(line, images.get(line) ?? []));
    },
  };
}

/** Base64 of a file is so long. */
function charsOf(group: readonly { readonly stat: FileStat }[]): number {
  return group.reduce((sum, { stat }) => sum + Math.ceil(stat.bytes / 3) * 4, 0);
}

/** Whole lines, the oldest first, until the rest fits. The newest line stays. */
function withoutSurplus<T extends { readonly stat: FileStat }>(
  groups: readonly (readonly [StoredMessage, readonly T[]])[],
): readonly (readonly [StoredMessage, readonly T[]])[] {
  const all = groups.flatMap(([, group]) => group);
  let images = surplus(all.length, IMAGES_PER_REQUEST, STEP_IMAGES);
  let chars = surplus(charsOf(all), REQUEST_CHARS, STEP_CHARS);
  let first = 0;
  while ((images > 0 || chars > 0) && first < groups.length - 1) {
    const group = groups[first]?.[1] ?? [];
    images -= group.length;
    chars -= charsOf(group);
    first++;
  }
  return groups.slice(first);
}

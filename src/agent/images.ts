/** The images of a conversation as a model takes them: read from `media/`, checked, and bounded. */

import { IMAGES_PER_MESSAGE, MAX_IMAGE_BYTES } from "../core/media.ts";
import type { Media } from "../core/messages.ts";
import type { ChatMessage, Image } from "../core/model.ts";
import type { FileStat, FileSystem, Log } from "../core/platform.ts";
import type { StoredMessage } from "../core/session.ts";
import { isImage, mediaPath } from "../lib/breadcrumb.ts";
import { asBuffer } from "../lib/bytes.ts";
import { imageType } from "../lib/image-type.ts";
import { imagesOf } from "../lib/message-images.ts";
import { join, resolve, SEPARATOR } from "../lib/path.ts";
import { isSameFile } from "../lib/same-file.ts";
import { toChat } from "../lib/transcript.ts";
import { createAllowance, type ImageGroup, surplusGroups } from "./image-bounds.ts";
import { showImages } from "./result-images.ts";

/** More than a request takes, so that the images of a conversation stay the same objects from turn to turn. */
const CACHED_CHARS = 24 * 1024 * 1024;

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
      if (entry === undefined || !isSameFile(entry.stat, stat)) return undefined;
      add(path, entry);
      return entry.image;
    },
  };
}

function areSame(one: readonly Image[], other: readonly Image[]): boolean {
  return one.length === other.length && one.every((image, index) => image === other[index]);
}

// Held by their first image: what the cache lets go of takes the message, and what was made of it, along.
const illustrated = new WeakMap<Image, WeakMap<StoredMessage, ChatMessage>>();

/** Of lines whose images are not shown. */
const bare = new WeakMap<StoredMessage, ChatMessage>();

function illustrate(line: StoredMessage, images: readonly Image[]): ChatMessage {
  const named = imagesNamedIn(line);
  if (named.length === 0) return toChat(line);
  const messages = cacheBehind(images[0]);
  const known = messages.get(line);
  if (known !== undefined && areSame(imagesOf(known), images)) return known;
  const made = withImages(toChat(line), named.map(mediaPath), images);
  messages.set(line, made);
  return made;
}

/** A user's message has the names of its images in its text already. */
function withImages(message: ChatMessage, names: readonly string[], images: readonly Image[]): ChatMessage {
  if (message.role === "tool") return showImages(message, names, images);
  return message.role === "user" && images.length > 0 ? { ...message, images } : message;
}

function cacheBehind(first: Image | undefined): WeakMap<StoredMessage, ChatMessage> {
  if (first === undefined) return bare;
  const messages = illustrated.get(first) ?? new WeakMap<StoredMessage, ChatMessage>();
  illustrated.set(first, messages);
  return messages;
}

/** An assistant's media are what it sent, and are not shown to it. */
function imagesNamedIn({ role, media = [] }: StoredMessage): readonly Media[] {
  return role === "assistant" ? [] : media.filter(isImage);
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
      const data = asBuffer(bytes).toString("base64");
      const image = { mime, data, name };
      cache.add(path, { stat, image });
      return image;
    } catch (error) {
      return leaveOut(name, "it cannot be read", error);
    }
  }

  async function findAll(line: StoredMessage): Promise<readonly Found[]> {
    const found: Found[] = [];
    const allowance = createAllowance();
    for (const entry of imagesNamedIn(line).slice(0, IMAGES_PER_MESSAGE)) {
      const image = await find(entry);
      if (image !== undefined && allowance.take(charsOf(image.stat))) found.push(image);
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
      const pictured = lines.filter((line) => imagesNamedIn(line).length > 0);
      if (pictured.length === 0) return lines.map(toChat);
      const found: (readonly [StoredMessage, readonly Found[]])[] = [];
      for (const line of pictured) found.push([line, await findAll(line)]);
      const images = new Map<StoredMessage, readonly Image[]>();
      for (const [line, group] of found.slice(surplusGroups(found.map(([, group]) => sizeOf(group))))) {
        images.set(line, await readAll(group));
      }
      return lines.map((line) => illustrate(line, images.get(line) ?? []));
    },
  };
}

/** Base64 of a file is so long. */
function charsOf({ bytes }: FileStat): number {
  return Math.ceil(bytes / 3) * 4;
}

function sizeOf(group: readonly { readonly stat: FileStat }[]): ImageGroup {
  return { images: group.length, chars: group.reduce((sum, { stat }) => sum + charsOf(stat), 0) };
}

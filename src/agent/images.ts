/** The images of a conversation as a model takes them: read from `media/`, checked, and bounded. */

import { Buffer } from "node:buffer";
import { IMAGES_PER_MESSAGE } from "../core/media.ts";
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
const REQUEST_IMAGES = 20;
/** What is left when there are too many: leaving out one with each new one would cost the cached prefix each time. */
const KEPT_SHARE = 0.75;
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

function fits(groups: readonly (readonly Image[])[], share: number): boolean {
  const images = groups.flat();
  const chars = images.reduce((sum, { data }) => sum + data.length, 0);
  return images.length <= REQUEST_IMAGES * share && chars <= REQUEST_CHARS * share;
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
  /** Lines whose images were once too many stay without them, so that what precedes the newest never changes back. */
  const retired = new WeakSet<StoredMessage>();

  /** The session file only names an image, and what it names is judged as if a stranger had. */
  async function loadImage(media: Media): Promise<Image | undefined> {
    const name = mediaPath(media);
    const leaveOut = (reason: string, error?: unknown): undefined => {
      log.debug("Left an image out", { path: name, reason, ...(error === undefined ? {} : { error }) });
    };
    try {
      const path = await files.realPath(resolve(workspace, name));
      if (!path.startsWith(root)) return leaveOut("it leads outside media/");
      const stat = await files.stat(path);
      if (stat?.kind !== "file") return leaveOut("it is no regular file");
      if (stat.bytes > MAX_IMAGE_BYTES) return leaveOut("it is too large");
      const known = cache.get(path, stat);
      if (known !== undefined) return known;
      const bytes = await files.read(path, { end: MAX_IMAGE_BYTES });
      const mime = imageType(bytes);
      if (mime === undefined) return leaveOut("it is no image that models take");
      const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
      const image = { mime, data, name };
      cache.add(path, { stat, image });
      return image;
    } catch (error) {
      return leaveOut("it cannot be read", error);
    }
  }

  async function load({ role, media = [] }: StoredMessage): Promise<readonly Image[]> {
    const found: Image[] = [];
    if (role !== "user") return found;
    for (const entry of media.filter(isImage).slice(0, IMAGES_PER_MESSAGE)) {
      const image = await loadImage(entry);
      if (image !== undefined && fits([found, [image]], 1)) found.push(image);
    }
    return found;
  }

  /** From the newest line on, whole lines at a time. */
  async function newest(lines: readonly StoredMessage[]): Promise<(readonly Image[])[]> {
    const groups: (readonly Image[])[] = [];
    for (const line of lines) {
      groups.push(await load(line));
      if (fits(groups, 1)) continue;
      while (groups.length > 1 && !fits(groups, KEPT_SHARE)) groups.pop();
      for (const older of lines.slice(groups.length)) retired.add(older);
      break;
    }
    return groups;
  }

  return {
    load,

    async loadWindow(lines) {
      const pictured = lines
        .filter((line) => line.role === "user" && line.media?.some(isImage) && !retired.has(line))
        .reverse();
      const groups = await newest(pictured);
      const images = new Map(groups.map((group, index) => [pictured[index], group]));
      return lines.map((line) => illustrate(line, images.get(line) ?? []));
    },
  };
}

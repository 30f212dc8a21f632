/** What would keep a model from taking an image that begins like one: one that it refuses spoils the whole request. */

import { Buffer } from "node:buffer";
import { MAX_IMAGE_SIDE } from "../core/media.ts";
import type { Image } from "../core/model.ts";
import { asBuffer } from "./bytes.ts";

interface Size {
  readonly width: number;
  readonly height: number;
}

const PNG_HEADER = 33;
const JPEG_END = Buffer.of(0xff, 0xd9);

/** Reads the size out of the header, which was recognised. `undefined` when it is not there. */
const sizes: Readonly<Record<Image["mime"], (bytes: Buffer) => Size | undefined>> = {
  "image/png": (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }),
  "image/gif": (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  "image/jpeg": (bytes) => {
    const frame = jpegFrame(bytes);
    if (frame === undefined) return undefined;
    return { height: bytes.readUInt16BE(frame + 5), width: bytes.readUInt16BE(frame + 7) };
  },
  "image/webp": webpSize,
};

/** Whether the end is there. What follows it does not matter. */
const endings: Readonly<Record<Image["mime"], (bytes: Buffer) => boolean>> = {
  "image/png": (bytes) => bytes.includes("IEND", PNG_HEADER, "latin1"),
  // Decoders show as much of it as there is.
  "image/gif": () => true,
  // Behind the frame, because a small picture with an end of its own may stand before it.
  "image/jpeg": (bytes) => bytes.lastIndexOf(JPEG_END) > (jpegFrame(bytes) ?? bytes.length),
  "image/webp": (bytes) => bytes.readUInt32LE(4) + 8 <= bytes.length,
};

/** `undefined` when nothing is wrong, as far as that can be told without decoding it. */
export function imageDefect(given: Uint8Array, mime: Image["mime"]): string | undefined {
  const bytes = asBuffer(given);
  if (!endings[mime](bytes)) return "the image is not whole, its end is missing";
  const size = sizes[mime](bytes);
  if (size === undefined) return "the image is damaged, its size is missing";
  const { width, height } = size;
  if (width === 0 || height === 0) return `the image has no pixels (${width} x ${height})`;
  if (Math.max(width, height) <= MAX_IMAGE_SIDE) return undefined;
  return `the image has ${width} x ${height} pixels, and the most is ${MAX_IMAGE_SIDE} a side; make a smaller one of it first`;
}

/** Where the segment is that begins a frame; those before it say how long they are. */
function jpegFrame(bytes: Buffer): number | undefined {
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return at;
    // Any number of 0xff may stand before a marker.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Three forms, each with its own header. */
function webpSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 30) return undefined;
  const form = bytes.toString("latin1", 12, 16);
  if (form === "VP8X") return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (form === "VP8 ") {
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  }
  const packed = bytes.readUInt32LE(21);
  return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
}

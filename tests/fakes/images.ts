/** Images as far as their bytes tell, of any size. */

import { Buffer } from "node:buffer";

/** The smallest of its kind that a decoder takes. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
export const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
export const JPEG = Buffer.from(
  "ffd8ffe000104a46494600010100000100010000ffdb004300030202020202030202020303030304060404040404080606050609" +
    "080a0a090809090a0c0f0c0a0b0e0b09090d110d0e0f101011100a0c12131210130f101010ffc9000b08000100010101110" +
    "0ffcc000600101005ffda0008010100003f00d2cf20ffd9",
  "hex",
);
export const WEBP = Buffer.from("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAgA0JaQAA3AA/vuUAAA=", "base64");

/** A PNG of exactly `bytes` bytes; one with another `mark` is another picture. */
export function pngOf(bytes: number, mark = 0): Buffer {
  const image = Buffer.alloc(bytes, mark);
  PNG.copy(image);
  return image;
}

/** Whether a strict decoder takes it. */
export function isBase64(data: unknown): boolean {
  const whole = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
  return typeof data === "string" && data !== "" && whole.test(data);
}

/** Looking at bytes as the runtime's `Buffer`, which searches, compares and turns them into text. */

import { Buffer } from "node:buffer";

/** The same memory, not a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

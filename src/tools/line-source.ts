/** Where lines are read from: a file, or a text that was made of one. */

import { Buffer } from "node:buffer";
import type { RealPath, ToolFiles } from "../core/tool.ts";

export interface LineSource {
  readonly bytes: number;
  read(start: number, end: number): Promise<Uint8Array>;
  stream(start: number): AsyncIterable<Uint8Array>;
}

export function linesOfFile(
  { system }: ToolFiles,
  path: RealPath,
  { bytes, signal }: { readonly bytes: number; readonly signal: AbortSignal },
): LineSource {
  return {
    bytes,
    read(start, end) {
      signal.throwIfAborted();
      return system.read(path, { start, end });
    },
    stream: (start) => system.stream(path, { start, signal }),
  };
}

export function linesOfText(text: string): LineSource {
  const bytes = Buffer.from(text);
  return {
    bytes: bytes.length,
    read: async (start, end) => bytes.subarray(start, end),
    async *stream(start) {
      yield bytes.subarray(start);
    },
  };
}

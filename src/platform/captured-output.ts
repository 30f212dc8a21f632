/** Keeps the beginning and the end of a stream of bytes in bounded memory, and makes text of them when asked. */

import type { CapturedOutput } from "../core/platform.ts";

export interface OutputCapture {
  /** Returns what is whole of it, with the beginning of a character that came before and is complete now. */
  push(chunk: Uint8Array): Uint8Array;
  /** All whole characters since the last `take`. */
  peek(): CapturedOutput;
  /** The same, and begins anew. */
  take(): CapturedOutput;
  /** The stream is at its end: what came of its last character counts as it is. */
  finish(): void;
}

const FIRST_CAPACITY = 4096;
/** A character of UTF-8 takes at most four bytes, so a cut leaves at most three behind. */
const MAX_CONTINUATION_BYTES = 3;
const NO_BYTES = new Uint8Array(0);

/** Bytes are decoded only when all are there: a chunk, and what is taken, may end inside a character. */
export function createOutputCapture(keepBytes: number): OutputCapture {
  let kept = createEnds(keepBytes);
  /** The beginning of a character. */
  let held: Uint8Array = NO_BYTES;

  return {
    push(chunk) {
      const bytes = held.length === 0 ? chunk : concat(held, chunk);
      const end = endOfWholeCharacters(bytes);
      // A copy, since the chunk's memory is not ours.
      held = end === bytes.length ? NO_BYTES : bytes.slice(end);
      const whole = bytes.subarray(0, end);
      kept.push(whole);
      return whole;
    },
    peek: () => kept.result(),
    take() {
      const result = kept.result();
      kept = createEnds(keepBytes);
      return result;
    },
    finish() {
      kept.push(held);
      held = NO_BYTES;
    },
  };
}

interface Ends {
  push(bytes: Uint8Array): void;
  result(): CapturedOutput;
}

function createEnds(keepBytes: number): Ends {
  let head: Uint8Array = NO_BYTES;
  let headBytes = 0;
  /** A ring: byte `n` after the head lies at `n % keepBytes`. Made when the head is full. */
  let ring: Uint8Array | undefined;
  let restBytes = 0;

  function pushHead(chunk: Uint8Array): void {
    const needed = headBytes + chunk.length;
    if (needed > head.length) {
      const grown = new Uint8Array(Math.min(keepBytes, Math.max(needed, head.length * 2, FIRST_CAPACITY)));
      grown.set(head.subarray(0, headBytes));
      head = grown;
    }
    head.set(chunk, headBytes);
    headBytes = needed;
  }

  function pushRing(chunk: Uint8Array): void {
    ring ??= new Uint8Array(keepBytes);
    const kept = chunk.subarray(Math.max(0, chunk.length - keepBytes));
    const at = keepBytes === 0 ? 0 : (restBytes + chunk.length - kept.length) % keepBytes;
    const untilWrap = kept.subarray(0, keepBytes - at);
    ring.set(untilWrap, at);
    ring.set(kept.subarray(untilWrap.length), 0);
    restBytes += chunk.length;
  }

  function tailBytes(): Uint8Array {
    if (ring === undefined) return NO_BYTES;
    if (restBytes <= keepBytes) return ring.subarray(0, restBytes);
    const oldest = keepBytes === 0 ? 0 : restBytes % keepBytes;
    return concat(ring.subarray(oldest), ring.subarray(0, oldest));
  }

  return {
    push(chunk) {
      const room = keepBytes - headBytes;
      if (room > 0) pushHead(chunk.subarray(0, room));
      if (chunk.length > room) pushRing(chunk.subarray(room));
    },
    result() {
      const first = head.subarray(0, headBytes);
      const last = tailBytes();
      if (restBytes <= keepBytes) return { head: decodeUtf8(concat(first, last)), tail: "", omittedBytes: 0 };
      const whole = first.subarray(0, endOfWholeCharacters(first));
      const rest = last.subarray(startOfWholeCharacters(last));
      return {
        head: decodeUtf8(whole),
        tail: decodeUtf8(rest),
        omittedBytes: headBytes + restBytes - whole.length - rest.length,
      };
    },
  };
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Bytes that are no text become U+FFFD; a byte order mark stays what it is. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
}

/** Without the beginning of a character whose end was cut off. */
function endOfWholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= MAX_CONTINUATION_BYTES && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return characterLength(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Without the end of a character whose beginning was cut off. */
function startOfWholeCharacters(bytes: Uint8Array): number {
  let start = 0;
  while (start < MAX_CONTINUATION_BYTES && isContinuation(bytes[start] ?? 0)) start++;
  return start;
}

function isContinuation(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
}

function characterLength(firstByte: number): number {
  if (firstByte < 0b1100_0000) return 1;
  if (firstByte < 0b1110_0000) return 2;
  return firstByte < 0b1111_0000 ? 3 : 4;
}

/** The three pipes of a program: what it says is kept in bounded memory, what it is told waits in bounded memory. */

import type { Readable, Writable } from "node:stream";
import type { CapturedOutput, Clock, RunningProcess } from "../core/platform.ts";
import { createOutputCapture } from "./captured-output.ts";

/** Whoever left the group still holds our pipe; we stop listening this long after the program's end. */
const DRAIN_MS = 200;
/** A pipe that has room takes a text at once; one that is full may not take it for hours. */
const TAKING_MS = 200;
/** Text that the program does not read stays with us, and not without limit. */
const MAX_WAITING_BYTES = 1024 * 1024;

export interface FollowedStream {
  readonly closed: Promise<void>;
  destroy(): void;
  peek(): CapturedOutput;
  take(): CapturedOutput;
}

/** `onChunk` hears of each chunk how long it was, and what is whole of it. */
export function follow(
  stream: Readable | null,
  keepBytes: number,
  onChunk: (bytes: number, whole: Uint8Array) => void,
): FollowedStream {
  const capture = createOutputCapture(keepBytes);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  function onEnd(): void {
    isOver = true;
    resolve();
  }
  if (stream === null) onEnd();
  stream?.on("data", (chunk: Uint8Array) => onChunk(chunk.length, capture.push(chunk)));
  // A pipe that fails has nothing more to say; what it said is kept.
  stream?.on("error", onEnd);
  stream?.on("close", onEnd);
  return {
    closed,
    destroy() {
      stream?.destroy();
      onEnd();
    },
    peek: capture.peek,
    take() {
      if (isOver) capture.finish();
      return capture.take();
    },
  };
}

/** Reads what is still in the pipes, and lets go of them. */
export async function drain(streams: readonly FollowedStream[], clock: Clock): Promise<void> {
  const closed = Promise.all(streams.map((stream) => stream.closed));
  const late = Promise.withResolvers<void>();
  // One more turn of the event loop, which reads all that a pipe can hold, even if this timer was late itself.
  const cancel = clock.after(DRAIN_MS, () => setImmediate(late.resolve));
  await Promise.race([closed, late.promise]);
  cancel();
  for (const stream of streams) stream.destroy();
}

export interface ProcessInput {
  write: RunningProcess["write"];
  /** After what was written has been read. */
  close(): void;
  destroy(): void;
}

/** `null` is an input that is closed from the beginning. */
export function createInput(stream: Writable | null, clock: Clock): ProcessInput {
  let isClosed = stream === null;
  /** Counted here, because not every runtime counts them. */
  let waitingBytes = 0;
  const onEnd = () => {
    isClosed = true;
  };
  // EPIPE: the program has closed its end, and whoever writes next is told. (Bun says nothing of that unless
  // the pipe was full, so there such a text goes nowhere.)
  stream?.on("error", onEnd);
  stream?.on("close", onEnd);
  return {
    async write(text) {
      if (stream === null || isClosed) return "closed";
      const bytes = new TextEncoder().encode(text);
      if (waitingBytes + bytes.length > MAX_WAITING_BYTES) return "full";
      waitingBytes += bytes.length;
      const taken = Promise.withResolvers<"written" | "closed">();
      stream.write(bytes, (error) => {
        waitingBytes -= bytes.length;
        taken.resolve(error ? "closed" : "written");
      });
      const cancel = clock.after(TAKING_MS, () => taken.resolve("written"));
      const outcome = await taken.promise;
      cancel();
      return outcome;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      stream?.end();
    },
    destroy: () => void stream?.destroy(),
  };
}

/** The terminal or the pipes of this process. Streams are touched only when asked for: they are slow to make. */

import { Buffer } from "node:buffer";
import { fstatSync } from "node:fs";
import { UserError } from "../core/errors.ts";
import type { Key, Terminal } from "../core/platform.ts";
import { errorCode } from "../lib/error-code.ts";
import { createKeyDecoder } from "./key-decoder.ts";
import { createOutputWriter, type OutputWriter } from "./output-writer.ts";

const DEFAULT_COLUMNS = 80;
/** How long an ESC may take to turn out to begin a sequence, over a slow line too. */
const ESCAPE_MS = 60;
const PASTE_MODE_ON = "\x1b[?2004h";
const PASTE_MODE_OFF = "\x1b[?2004l";

/** What the runtimes do differently. */
export type TerminalText = Pick<Terminal, "renderMarkdown" | "width">;

export function createTerminal({ renderMarkdown, width }: TerminalText): Terminal {
  const stdout = createOutputWriter(1);
  const stderr = createOutputWriter(2);
  const output = createBatch();
  const tty = new Map<number, boolean>();

  function isTty(fd: number): boolean {
    const known = tty.get(fd) ?? looksLikeTty(fd);
    tty.set(fd, known);
    return known;
  }

  return {
    get stdinIsTty() {
      return isTty(0);
    },
    get stdoutIsTty() {
      return isTty(1);
    },
    get stderrIsTty() {
      return isTty(2);
    },
    get columns() {
      const columns = isTty(1) ? process.stdout.columns : isTty(2) ? process.stderr.columns : undefined;
      // Some terminals say 0 before they know.
      return columns || DEFAULT_COLUMNS;
    },
    out: (text) => output.add(stdout, text),
    err: (text) => output.add(stderr, text),
    readAll,
    keys: (signal) =>
      readKeys(signal, (text) => {
        output.writeAll();
        if (isTty(1)) stdout.write(text);
      }),
    renderMarkdown,
    width,
    onResize(listener) {
      if (!isTty(1)) return () => undefined;
      process.stdout.on("resize", listener);
      return () => void process.stdout.off("resize", listener);
    },
    async flush() {
      output.writeAll();
      await Promise.all([stdout.flush(), stderr.flush()]);
    },
  };
}

interface Batch {
  add(writer: OutputWriter, text: string): void;
  /** Writes at once what was added, in the order it was. */
  writeAll(): void;
}

/**
 * Joins what is written in one turn of the event loop: to a terminal each write costs a system call and
 * wakes its reader, and drawing is many small ones. The end of the process writes what is left.
 */
function createBatch(): Batch {
  let parts: { readonly writer: OutputWriter; text: string }[] = [];
  let failure: { readonly error: unknown } | undefined;

  function writeAll(): void {
    const ready = parts;
    parts = [];
    for (const { writer, text } of ready) writer.write(text);
    if (failure) throw failure.error;
  }

  /** Outside any caller: the next one to write hears of what failed. */
  function writeLate(): void {
    try {
      if (parts.length > 0) writeAll();
    } catch (error) {
      failure = { error };
    }
  }

  process.on("exit", writeLate);
  return {
    writeAll,
    add(writer, text) {
      if (failure) throw failure.error;
      const last = parts.at(-1);
      if (last?.writer === writer) last.text += text;
      else parts.push({ writer, text });
      if (parts.length === 1 && last === undefined) setImmediate(writeLate);
    },
  };
}

/** Most outputs of services and pipelines are no character devices, which is cheap to see. */
function looksLikeTty(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    if (!stat.isCharacterDevice() || isMemoryDevice(stat.rdev)) return false;
  } catch (error) {
    if (errorCode(error) === "EBADF") return false;
    throw error;
  }
  return process.getBuiltinModule("node:tty").isatty(fd);
}

/** Linux numbers /dev/null and its like so. Services are started with it, and asking node:tty costs 10 ms. */
function isMemoryDevice(device: number): boolean {
  return process.platform === "linux" && device >> 8 === 1;
}

async function readAll(maxBytes: number, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const input = process.stdin;
  // A writer that keeps the pipe open must not keep us from ending.
  const onAbort = () => input.destroy(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await readText(input, maxBytes);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function readText(input: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new UserError(`Cannot read more than ${maxBytes} bytes from standard input`, {
        hint: "Write the text to a file in the workspace and name the file instead",
      });
    }
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

async function* readKeys(signal: AbortSignal, write: (text: string) => void): AsyncGenerator<Key> {
  if (signal.aborted) return;
  const input = process.stdin;
  const decoder = createKeyDecoder();
  let keys: Key[] = [];
  let isOver = false;
  let changed = Promise.withResolvers<void>();
  let escapeTimer: NodeJS.Timeout | undefined;

  function add(more: Key[]): void {
    keys.push(...more);
    changed.resolve();
  }
  function onData(bytes: Uint8Array): void {
    clearTimeout(escapeTimer);
    add(decoder.push(bytes));
    if (decoder.isWaiting) escapeTimer = setTimeout(() => add(decoder.flush()), ESCAPE_MS);
  }
  // A terminal that hung up fails to be read: that is its end too.
  function onEnd(): void {
    isOver = true;
    add(decoder.flush());
  }
  function onAbort(): void {
    changed.resolve();
  }
  const ends = ["end", "close", "error"] as const;

  const restore = takeOver(input, write);
  input.on("data", onData);
  for (const end of ends) input.on(end, onEnd);
  signal.addEventListener("abort", onAbort, { once: true });
  input.resume();
  try {
    for (;;) {
      // An abort leaves unread keys unread; an end does not.
      if (signal.aborted) return;
      const ready = keys;
      keys = [];
      for (const key of ready) {
        yield key;
        if (signal.aborted) return;
      }
      if (isOver && keys.length === 0) return;
      if (keys.length === 0) await changed.promise;
      changed = Promise.withResolvers<void>();
    }
  } finally {
    clearTimeout(escapeTimer);
    signal.removeEventListener("abort", onAbort);
    input.off("data", onData);
    for (const end of ends) input.off(end, onEnd);
    input.pause();
    restore();
  }
}

/** Makes the terminal send every key as it is; the returned function, or the end of the process, undoes it. */
function takeOver(input: NodeJS.ReadStream, write: (text: string) => void): () => void {
  if (!input.isTTY) return () => undefined;
  input.setRawMode(true);
  write(PASTE_MODE_ON);
  // A shell that stopped us and lets us go on has put its own mode back.
  const takeAgain = () => {
    input.setRawMode(false);
    input.setRawMode(true);
    write(PASTE_MODE_ON);
    process.stdout.emit("resize");
  };
  process.on("SIGCONT", takeAgain);
  const restore = () => {
    process.off("exit", restore);
    process.off("SIGCONT", takeAgain);
    write(PASTE_MODE_OFF);
    try {
      if (!input.destroyed) input.setRawMode(false);
    } catch (error) {
      // A terminal that hung up has no mode to go back to.
      if (!String(error).includes("errno: 5") && errorCode(error) !== "EIO") throw error;
    }
  };
  process.on("exit", restore);
  return restore;
}

/** Sends a request and reads its reply, stream or not, bounded and watched: the same for every protocol. */

import type { Clock } from "../../core/platform.ts";
import { abortable } from "../../lib/abort.ts";
import { type Chunks, chunksOf, readBounded } from "./body.ts";
import { BadReply, BrokenOff, Expired, MOST_REFUSAL, Refusal, Unreachable } from "./errors.ts";
import { createSseParser } from "./sse.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";

export interface TransportOptions {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** The longest silence before the first byte. Local models read a long prompt without a word. */
  readonly firstByteMs?: number | undefined;
  /** The longest silence inside a reply. */
  readonly streamIdleMs?: number | undefined;
  /** The longest a call may take as a whole. */
  readonly callTimeoutMs?: number | undefined;
}

/** Where to post, and with what headers. */
export interface Target {
  readonly url: string;
  readonly init: RequestInit;
}

/** Takes the decoded pieces of a reply. */
export interface Sink {
  /** One decoded chunk. Throws `Refusal` or `BadReply`. */
  add(chunk: unknown): void;
  /** The server said that the reply is complete. */
  readonly complete: boolean;
  /** Something of the reply has arrived. */
  readonly started: boolean;
  /** Nothing of use comes behind this, so that the end of the body need not be waited for. */
  readonly ended?: boolean;
}

export interface Transport {
  /** Fills the sink, or throws whatever stopped it. */
  send(target: Target, body: Uint8Array<ArrayBuffer>, sink: Sink, signal: AbortSignal): Promise<void>;
}

/** A reply is text for one person and arguments of a few calls: nothing sensible comes near this. */
const MOST_REPLY_BYTES = 32 * 1024 * 1024;
/** How long what is of use may come behind the end of a reply, and the end of its body behind that. */
const LINGER_MS = 500;
/** How long the body of a refusal may take: some servers say what is wrong and never close. */
const REFUSAL_MS = 2_000;

export function createTransport({
  fetch,
  clock,
  firstByteMs = 120_000,
  streamIdleMs = 90_000,
  callTimeoutMs,
}: TransportOptions): Transport {
  return {
    async send({ url, init }, body, sink, signal) {
      const watchdog = startWatchdog({
        clock,
        signal,
        firstByteMs,
        idleMs: streamIdleMs,
        totalMs: callTimeoutMs,
      });
      const post = async () => {
        const response = await fetchOrRefuse(fetch, clock, url, { ...init, body, signal: watchdog.signal });
        await readReply(response, clock, sink, watchdog);
      };
      try {
        watchdog.signal.throwIfAborted();
        await abortable(post(), watchdog.signal);
      } catch (error) {
        if (!watchdog.signal.aborted) throw error;
        // An abort's own reason tells more than what the transport made of it.
        const { reason } = watchdog.signal;
        // Nobody waits longer for what may come behind a reply, and nobody misses it.
        if (!(reason instanceof Expired && sink.complete)) throw reason;
      } finally {
        watchdog.stop();
      }
    },
  };
}

/** Refusals are read here, up to a bound: what they say decides what is done about them. */
async function fetchOrRefuse(
  fetch: TransportOptions["fetch"],
  clock: Clock,
  url: string,
  init: RequestInit,
): Promise<Response> {
  // The conversation and the key are for the configured address and for no other.
  const response = await fetch(url, { ...init, redirect: "manual" }).catch((cause: unknown) => {
    throw new Unreachable("the server could not be reached", { cause });
  });
  if (response.ok) return response;
  // Whatever happens to its words, a refusal is one.
  const reading = readBounded(response, MOST_REFUSAL, { clock, withinMs: REFUSAL_MS });
  const { text } = await reading.catch((error: unknown) => {
    if (error instanceof BrokenOff) return { text: "" };
    throw error;
  });
  if (response.status >= 300 && response.status < 400) throw redirected(response.headers, url);
  throw new Refusal({ status: response.status, headers: response.headers, body: text });
}

/** Names no more of the new address than its origin: the rest could hold a secret. */
function redirected(headers: Headers, from: string): BadReply {
  const location = URL.parse(headers.get("location") ?? "", from);
  const isWeb = headers.has("location") && /^https?:$/.test(location?.protocol ?? "");
  const where = isWeb ? `, at ${location?.origin}` : "";
  return new BadReply(`redirects to another address${where}; set apiBase to the final one`, {
    kind: "badRequest",
  });
}

/** Takes the bytes of a reply in one of the forms it can have. */
interface Reader {
  /** Whether more is wanted. */
  push(bytes: Uint8Array): boolean;
  /** The body is over. */
  end(): void;
}

async function readReply(response: Response, clock: Clock, sink: Sink, watchdog: Watchdog): Promise<void> {
  watchdog.touch();
  const chunks = chunksOf(response);
  try {
    if (await readChunks(chunks, createReader(response, sink, watchdog), watchdog)) return;
    readRest(chunks, clock);
  } catch (error) {
    chunks.cutOff();
    // What happens to a connection behind the end of a reply does not make it worse.
    if (!(error instanceof BrokenOff && sink.complete)) throw error;
  }
}

/** Whether all of them were read. */
async function readChunks(chunks: Chunks, reader: Reader, { signal, touch }: Watchdog): Promise<boolean> {
  let bytes = 0;
  for (let chunk = await chunks.next(); chunk !== undefined; chunk = await chunks.next()) {
    signal.throwIfAborted();
    touch();
    bytes += chunk.length;
    if (bytes > MOST_REPLY_BYTES) throw new BadReply("sent more than 32 MiB");
    if (!reader.push(chunk)) return false;
  }
  // An abort in the middle of a stream can look like its end.
  signal.throwIfAborted();
  reader.end();
  return true;
}

/**
 * A server that is through ends the body at once, and a connection whose body was read to its end serves
 * the next call without a new handshake. Nobody waits for it; one that goes on is cut off.
 */
function readRest({ next, cutOff }: Chunks, clock: Clock): void {
  const cancel = clock.after(LINGER_MS, cutOff);
  const read = async () => {
    while ((await next()) !== undefined);
  };
  read().catch(cutOff).finally(cancel);
}

/** Some servers do not stream although they were asked to, and some say one thing and send the other. */
function createReader({ headers }: Response, sink: Sink, watchdog: Watchdog): Reader {
  if (headers.get("content-type")?.includes("text/html")) {
    throw new BadReply("answered with a web page, so its address is probably wrong", { kind: "badRequest" });
  }
  const isFramed = headers.has("content-length") || headers.get("transfer-encoding") === "chunked";
  const createStream = () => createStreamReader(sink, watchdog, { isFramed });
  let reader: Reader | undefined;
  return {
    push(bytes) {
      const first = bytes.find((byte) => !BLANK.has(byte));
      if (reader === undefined && first === undefined) return true;
      // No line of a stream begins with a brace, and all JSON that is a reply does.
      reader ??= first === OPENING_BRACE ? createJsonReader(sink) : createStream();
      return reader.push(bytes);
    },
    end: () => (reader ?? createStream()).end(),
  };
}

const OPENING_BRACE = 0x7b;
/** White space, and the three bytes of a mark of the byte order. */
const BLANK: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf]);

function createJsonReader(sink: Sink): Reader {
  const decoder = new TextDecoder();
  let text = "";
  return {
    push(bytes) {
      text += decoder.decode(bytes, { stream: true });
      return true;
    },
    end() {
      sink.add(parseJson(text + decoder.decode()));
      if (!sink.started) throw new BadReply("sent JSON that is not a reply");
    },
  };
}

/** `isFramed` says that a body which was cut could be told from one that is at its end. */
function createStreamReader(sink: Sink, watchdog: Watchdog, { isFramed }: { isFramed: boolean }): Reader {
  let done = false;
  const parser = createSseParser((data) => {
    if (done || watchdog.signal.aborted) return;
    if (/^\s*"?\[DONE\]"?\s*$/i.test(data)) done = true;
    // Keep-alives come as events too, empty or with a word.
    else if (/^\s*[[{]/.test(data)) sink.add(parseJson(data));
    done ||= sink.ended === true;
    if (sink.complete) watchdog.linger(LINGER_MS);
  });
  return {
    push(bytes) {
      parser.push(bytes);
      return !done;
    },
    end() {
      endStream(parser, sink);
      // A body that is whole and has a reply in it is that reply, whatever it says of its end.
      if (!done && !sink.complete && !(isFramed && sink.started)) throw endedEarly(sink);
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadReply("sent something that is not JSON");
  }
}

/** The last event counts without its blank line, but not if it was cut. */
function endStream(parser: { end(): void }, sink: Sink): void {
  try {
    parser.end();
  } catch (error) {
    if (!(error instanceof BadReply)) throw error;
    if (!sink.complete) throw endedEarly(sink);
  }
}

function endedEarly({ started }: Sink): BadReply {
  return new BadReply(started ? "broke off in the middle of its reply" : "sent nothing that is a reply");
}

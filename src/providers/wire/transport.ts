/** Sends a request and reads its reply, stream or not, bounded and watched: the same for every protocol. */

import type { Clock } from "../../core/platform.ts";
import { abortable } from "../../lib/abort.ts";
import { BadReply, Refusal, Unreachable } from "./model-failure.ts";
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

/** A reply is text for one person and arguments of a few calls: nothing sensible comes near these. */
const MOST_REPLY_BYTES = 32 * 1024 * 1024;
const MOST_REFUSAL_BYTES = 64 * 1024;
/** How long the end of a body may come after the end of the reply. */
const LINGER_MS = 500;

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
      try {
        const sent = fetchOrRefuse(fetch, clock, url, { ...init, body, signal: watchdog.signal });
        await readReply(await abortable(sent, watchdog.signal), clock, sink, watchdog);
      } catch (error) {
        // An abort's own reason tells more than what the transport made of it.
        throw watchdog.signal.aborted ? watchdog.signal.reason : error;
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
  const body = await readText(response, clock, MOST_REFUSAL_BYTES);
  if (response.status >= 300 && response.status < 400) throw redirected(response.headers, url);
  throw new Refusal({ status: response.status, headers: response.headers, body });
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

/** The beginning of a body, at most `limit` bytes of it. */
async function readText(response: Response, clock: Clock, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  await readChunks(response, clock, (chunk) => {
    text += decoder.decode(chunk.subarray(0, limit - bytes), { stream: true });
    bytes += chunk.length;
    return bytes < limit;
  });
  return text;
}

/** Hands on the body's chunks until `take` says that it has enough. */
async function readChunks(
  response: Response,
  clock: Clock,
  take: (chunk: Uint8Array) => boolean,
): Promise<void> {
  const reader = response.body?.getReader();
  if (!reader) return;
  // On a broken connection there is nothing to give back, and that is no news.
  const cutOff = () => void reader.cancel().catch(() => {});
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (!take(next.value)) return readRest(reader, clock, cutOff);
    }
  } catch (error) {
    cutOff();
    throw error;
  }
}

/**
 * A server that is through ends the body at once, and a connection whose body was read to its end serves
 * the next call without a new handshake. Nobody waits for it; one that goes on is cut off.
 */
function readRest(reader: { read(): Promise<{ done: boolean }> }, clock: Clock, cutOff: () => void): void {
  const cancel = clock.after(LINGER_MS, cutOff);
  const read = async () => {
    while (!(await reader.read()).done);
  };
  read().catch(cutOff).finally(cancel);
}

async function readReply(response: Response, clock: Clock, sink: Sink, watchdog: Watchdog): Promise<void> {
  watchdog.touch();
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("text/html")) {
    throw new BadReply("answered with a web page, so its address is probably wrong", { kind: "badRequest" });
  }
  // Some servers do not stream although they were asked to.
  if (type.includes("json") && !type.includes("event-stream"))
    return readJson(response, clock, sink, watchdog);
  return abortable(readStream(response, clock, sink, watchdog), watchdog.signal);
}

async function readJson(response: Response, clock: Clock, sink: Sink, watchdog: Watchdog): Promise<void> {
  const text = await abortable(readText(response, clock, MOST_REPLY_BYTES), watchdog.signal);
  const reply = parseChunk(text);
  sink.add(reply);
  if (!sink.started) throw new BadReply("sent JSON that is not a reply");
}

function parseChunk(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadReply("sent something that is not JSON");
  }
}

async function readStream(response: Response, clock: Clock, sink: Sink, watchdog: Watchdog): Promise<void> {
  let done = false;
  let bytes = 0;
  const parser = createSseParser((data) => {
    if (done || watchdog.signal.aborted) return;
    if (data.trim() === "[DONE]") done = true;
    else sink.add(parseChunk(data));
    done ||= sink.ended === true;
  });
  try {
    await readChunks(response, clock, (chunk) => {
      watchdog.touch();
      bytes += chunk.length;
      if (bytes > MOST_REPLY_BYTES) throw new BadReply("sent more than 32 MiB");
      parser.push(chunk);
      return !done && !watchdog.signal.aborted;
    });
    if (!done && !watchdog.signal.aborted) endStream(parser, sink);
  } catch (error) {
    // Whatever happens behind the end of a reply does not make it worse.
    if (!sink.complete || error instanceof BadReply || error instanceof Refusal) throw error;
  }
  // An abort in the middle of a stream can look like its end.
  watchdog.signal.throwIfAborted();
  if (!done && !sink.complete) throw endedEarly(sink);
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

/** A transport whose server is a body that the test writes, piece by piece. */

import { isObject } from "../../../src/lib/is-object.ts";
import { createTransport, type Sink, type TransportOptions } from "../../../src/providers/wire/transport.ts";
import { createFakeClock } from "../../fakes/clock.ts";

export interface ScriptedBody {
  readonly fetch: typeof fetch;
  /** The requests so far. */
  readonly requests: readonly RequestInit[];
  /** One chunk of the reply's body. */
  write(text: string): void;
  end(): void;
  /** The connection breaks. */
  fail(error: Error): void;
  /** Nobody reads it any more. */
  readonly isCutOff: boolean;
}

export function scriptBody(
  headers: Record<string, string> = { "content-type": "text/event-stream" },
): ScriptedBody {
  const requests: RequestInit[] = [];
  let source: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isCutOff = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      source = controller;
    },
    cancel() {
      isCutOff = true;
    },
  });
  const answer = async (_: unknown, init: RequestInit = {}) => {
    requests.push(init);
    init.signal?.addEventListener("abort", () => {
      isCutOff = true;
      source?.error(init.signal?.reason);
    });
    const response = new Response(body, { headers });
    // A runtime may take any body for text.
    if (headers["content-type"] === undefined) response.headers.delete("content-type");
    return response;
  };
  return {
    fetch: Object.assign(answer, { preconnect() {} }),
    requests,
    write: (text) => source?.enqueue(new TextEncoder().encode(text)),
    end: () => source?.close(),
    fail: (error) => source?.error(error),
    get isCutOff() {
      return isCutOff;
    },
  };
}

export interface Collected extends Sink {
  readonly chunks: readonly unknown[];
}

/** Keeps every chunk; `{end: true}` completes the reply, and `{bug: true}` meets a mistake. */
export function collect(): Collected {
  const chunks: unknown[] = [];
  return {
    chunks,
    add(chunk) {
      chunks.push(chunk);
      if (isObject(chunk) && chunk["bug"] === true) throw new TypeError("boom");
    },
    get complete() {
      return chunks.some((chunk) => isObject(chunk) && chunk["end"] === true);
    },
    get started() {
      return chunks.length > 0;
    },
  };
}

export const TARGET = { url: "http://model.test/v1", init: { method: "POST" } };

export function open(server: Pick<ScriptedBody, "fetch">, options: Partial<TransportOptions> = {}) {
  const clock = createFakeClock();
  const sink = collect();
  const transport = createTransport({ fetch: server.fetch, clock, ...options });
  return {
    clock,
    sink,
    send: (signal = new AbortController().signal) =>
      transport.send(TARGET, new TextEncoder().encode("{}"), sink, signal),
  };
}

/** Reads the body of a request as it came, once, up to a bound and a time: signatures are over exactly these bytes. */

import type { Clock } from "../core/platform.ts";
import { abortable, limitSignal } from "./abort.ts";

export type ReadBody =
  | { readonly ok: true; readonly bytes: Uint8Array<ArrayBuffer> }
  /** What to answer: too large, too slow, or broken off. */
  | { readonly ok: false; readonly status: 413 | 408 | 400; readonly reason: string };

export interface ReadBodyOptions {
  readonly maxBytes: number;
  readonly clock: Pick<Clock, "after">;
  /** For the whole of it. Whoever sends a byte now and then does not hold us for ever. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;
const NOBODY_WAITS = () => {};

/** Never rejects. What is left of a body that is not taken is not read. */
export async function readBody(
  request: Request,
  { maxBytes, clock, timeoutMs = TIMEOUT_MS }: ReadBodyOptions,
): Promise<ReadBody> {
  const tooLarge = { ok: false, status: 413, reason: `the body has more than ${maxBytes} bytes` } as const;
  if (declaredBytes(request) > maxBytes) return tooLarge;
  if (request.bodyUsed) return { ok: false, status: 400, reason: "the body was read before" };
  if (request.body === null) return { ok: true, bytes: new Uint8Array() };

  const reader = request.body.getReader();
  const limit = limitSignal(request.signal, { clock, ms: timeoutMs });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await abortable(reader.read(), limit.signal);
      if (done) return { ok: true, bytes: joined(chunks, bytes) };
      const chunk: Uint8Array = value;
      bytes += chunk.length;
      if (bytes > maxBytes) return tooLarge;
      chunks.push(chunk);
    }
  } catch {
    // Gone or too slow: there is nobody to tell more than this.
    return limit.signal.aborted && !request.signal.aborted
      ? { ok: false, status: 408, reason: `the body did not come within ${timeoutMs / 1000} s` }
      : { ok: false, status: 400, reason: "the body broke off" };
  } finally {
    limit.release();
    // Resolves late or never where the other side is silent, and fails where it is gone.
    reader.cancel().catch(NOBODY_WAITS);
  }
}

/** 0 when the request does not say, or says nothing that makes sense: then it is counted. */
export function declaredBytes(request: Request): number {
  const length = request.headers.get("content-length") ?? "";
  return /^\d+$/.test(length) ? Number(length) : 0;
}

function joined(chunks: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

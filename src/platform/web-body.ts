/** Reads the body of a response, decompressed, up to a bound: neither its length nor its word for it is trusted. */

import { pipeline, Readable, type Transform } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";

type Bytes = AsyncIterable<Uint8Array>;

export interface BoundedBody {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly truncated: boolean;
}

/** What a compressed body may be larger than its content, in small bodies. */
const SLACK_BYTES = 64 * 1024;

/** What `readBody` decompresses. */
export const ACCEPT_ENCODING = "gzip, deflate, br, zstd";

/** Rejects when the body breaks off or is not what its encoding says. */
export async function readBody(source: Bytes, encoding: string, maxBytes: number): Promise<BoundedBody> {
  const name = encodingIn(encoding);
  if (name === "") return take(source, maxBytes);
  const wire = limited(source, maxBytes + SLACK_BYTES);
  try {
    const { body, truncated } = await take(await decompress(wire.bytes, name), maxBytes);
    return { body, truncated: truncated || wire.isCut() };
  } catch (error) {
    // A stream of nothing but padding: it has an end for us, and what it holds is not worth more.
    if (wire.isCut()) return { body: new Uint8Array(), truncated: true };
    throw error;
  }
}

/** Empty for none, which has a name of its own that some servers write beside others. */
function encodingIn(header: string): string {
  return header
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity")
    .join(", ");
}

async function take(source: Bytes, maxBytes: number): Promise<BoundedBody> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let truncated = false;
  for await (const chunk of source) {
    const fits = chunk.subarray(0, maxBytes - bytes);
    chunks.push(fits);
    bytes += fits.length;
    truncated = fits.length < chunk.length;
    if (truncated) break;
  }
  return { body: joined(chunks, bytes), truncated };
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

function limited(source: Bytes, maxBytes: number): { bytes: Bytes; isCut(): boolean } {
  let left = maxBytes;
  async function* read() {
    for await (const chunk of source) {
      left -= chunk.length;
      if (left < 0) return;
      yield chunk;
    }
  }
  return { bytes: read(), isCut: () => left < 0 };
}

async function decompress(source: Bytes, encoding: string): Promise<Bytes> {
  const { first, all } = await peek(source);
  // An empty body is sent with an encoding now and then, and no decoder takes it for one.
  if (first === undefined) return all;
  const decoder = decoderFor(encoding, first);
  // Its errors come out of the decoder too, where they are read.
  pipeline(Readable.from(all), decoder, () => {});
  return decoder;
}

function decoderFor(encoding: string, first: number): Transform {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      // Some servers leave out the wrapping that the standard asks for.
      return (first & 0x0f) === 8 ? createInflate() : createInflateRaw();
    case "br":
      return createBrotliDecompress();
    case "zstd":
      return createZstdDecompress();
    default:
      throw new Error(`the body has an encoding that nobody asked for, ${JSON.stringify(encoding)}`);
  }
}

async function peek(source: Bytes): Promise<{ first: number | undefined; all: Bytes }> {
  const iterator = source[Symbol.asyncIterator]();
  let start = await iterator.next();
  while (start.done !== true && start.value.length === 0) start = await iterator.next();
  if (start.done === true) return { first: undefined, all: Readable.from([]) };
  const chunk = start.value;
  async function* all() {
    try {
      yield chunk;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
        yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { first: chunk[0], all: all() };
}

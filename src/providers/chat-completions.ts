/** The chat-completions protocol, which most vendors and every local server speak, over the openai package. */

import type { ChatReply, ChatRequest, Model, ModelError } from "../core/model.ts";
import type { Clock } from "../core/platform.ts";
import { abortable } from "../lib/abort.ts";
import { lazy } from "../lib/lazy.ts";
import { createMask } from "../lib/mask.ts";
import { BadReply, type CallNames, describeFailure, Refusal, Unreachable } from "./model-failure.ts";
import { createSseParser } from "./sse.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";
import { createReplyBuilder, type ReplyBuilder } from "./wire-reply.ts";
import { encodeRequest, type Quirks } from "./wire-request.ts";

export interface ChatCompletionsOptions {
  /** The row or endpoint, as people know it. */
  readonly provider: string;
  /** Up to what `/chat/completions` is added to. */
  readonly baseUrl: string;
  /** Absent for servers that ask for none. */
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Put over the request's own keys. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
  readonly extraQuery?: Readonly<Record<string, string>>;
  /** What is known of this server before the first call. */
  readonly quirks?: Partial<Quirks>;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** The longest silence before the first byte. Local models read a long prompt without a word. */
  readonly firstByteMs?: number;
  /** The longest silence inside a reply. */
  readonly streamIdleMs?: number;
  /** The longest a call may take as a whole. */
  readonly callTimeoutMs?: number;
}

/** A reply is text for one person and arguments of a few calls: nothing sensible comes near these. */
const MOST_REPLY_BYTES = 32 * 1024 * 1024;
const MOST_REFUSAL_BYTES = 64 * 1024;
/** How long the end of a body may come after the end of the reply. */
const LINGER_MS = 500;

export function createChatCompletions({
  provider,
  baseUrl,
  apiKey,
  headers = {},
  extraBody = {},
  extraQuery = {},
  quirks: knownQuirks = {},
  fetch,
  clock,
  firstByteMs = 120_000,
  streamIdleMs = 90_000,
  callTimeoutMs,
}: ChatCompletionsOptions): Model {
  let quirks: Quirks = {
    noStreamOptions: false,
    completionTokens: false,
    noTemperature: false,
    ...knownQuirks,
  };
  let callsWithoutId = 0;
  const newCallId = () => `call_${clock.now().toString(36)}_${++callsWithoutId}`;

  /**
   * The package says where to post and with what headers. That depends on the configuration alone, and
   * asking it costs more than everything else of a call together, so it is asked once.
   */
  const connect = lazy(async () => {
    const { OpenAI } = await import("openai");
    const client = new OpenAI({
      baseURL: baseUrl,
      apiKey: apiKey ?? "none",
      // The package would take these from variables meant for its own vendor and send them to any.
      organization: null,
      project: null,
      defaultHeaders: {
        "User-Agent": "nanobot",
        ...(apiKey === undefined ? { Authorization: null } : {}),
        ...headers,
      },
      defaultQuery: { ...extraQuery },
      logLevel: "off",
    });
    const { req, url } = await client.buildRequest({ method: "post", path: "/chat/completions", body: {} });
    return (body: Uint8Array<ArrayBuffer>, signal: AbortSignal) =>
      fetchOrRefuse(fetch, clock, url, { ...req, body, signal });
  });

  function failureOf(error: unknown, request: ChatRequest, builder: ReplyBuilder): ChatReply {
    const partial = builder.partial();
    const names: CallNames = { provider, origin: originOf(baseUrl), model: request.model };
    const described = describeFailure(error, names, { now: clock.now(), started: builder.started });
    const mask = createMask([apiKey ?? "", ...Object.values(headers), ...Object.values(extraQuery)]);
    return { ok: false, error: { ...described, message: mask(described.message) }, partial };
  }

  /** Fills the builder, or throws whatever stopped it. */
  async function call(request: ChatRequest, signal: AbortSignal, builder: ReplyBuilder): Promise<void> {
    const watchdog = startWatchdog({
      clock,
      signal,
      firstByteMs,
      idleMs: streamIdleMs,
      totalMs: callTimeoutMs,
    });
    try {
      const post = await connect();
      const sent = post(encodeRequest(request, quirks, extraBody), watchdog.signal);
      await readReply(await abortable(sent, watchdog.signal), clock, builder, watchdog);
    } catch (error) {
      // An abort's own reason tells more than what the transport made of it.
      throw watchdog.signal.aborted ? watchdog.signal.reason : error;
    } finally {
      watchdog.stop();
    }
  }

  return {
    provider,
    async chat(request, { signal, onDelta }) {
      for (;;) {
        if (signal.aborted) return { ok: false, error: ABORTED, partial: "" };
        const builder = createReplyBuilder({ onDelta, newCallId });
        try {
          await call(request, signal, builder);
          return builder.finish();
        } catch (error) {
          if (signal.aborted) return { ok: false, error: ABORTED, partial: builder.partial() };
          const learnt = learnFrom(error, quirks);
          if (!learnt) return failureOf(error, request, builder);
          quirks = learnt;
        }
      }
    },
  };
}

const ABORTED: ModelError = { kind: "aborted", message: "The request was stopped" };

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** What a refusal teaches about its server, if that is new. Each lesson is learnt once, so this ends. */
function learnFrom(error: unknown, quirks: Quirks): Quirks | undefined {
  if (!(error instanceof Refusal) || (error.status !== 400 && error.status !== 422)) return undefined;
  const { body } = error;
  if (!quirks.noStreamOptions && body.includes("stream_options")) return { ...quirks, noStreamOptions: true };
  if (!quirks.completionTokens && /use .{0,3}max_completion_tokens/i.test(body)) {
    return { ...quirks, completionTokens: true };
  }
  if (
    !quirks.noTemperature &&
    /temperature/.test(body) &&
    /(not support|unsupported|deprecated)/i.test(body)
  ) {
    return { ...quirks, noTemperature: true };
  }
  return undefined;
}

/** Refusals are read here, up to a bound: what they say decides what is done about them. */
async function fetchOrRefuse(
  fetch: ChatCompletionsOptions["fetch"],
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

async function readReply(
  response: Response,
  clock: Clock,
  builder: ReplyBuilder,
  watchdog: Watchdog,
): Promise<void> {
  watchdog.touch();
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("text/html")) {
    throw new BadReply("answered with a web page, so its address is probably wrong", { kind: "badRequest" });
  }
  // Some servers do not stream although they were asked to.
  if (type.includes("json") && !type.includes("event-stream"))
    return readJson(response, clock, builder, watchdog);
  return abortable(readStream(response, clock, builder, watchdog), watchdog.signal);
}

async function readJson(
  response: Response,
  clock: Clock,
  builder: ReplyBuilder,
  watchdog: Watchdog,
): Promise<void> {
  const text = await abortable(readText(response, clock, MOST_REPLY_BYTES), watchdog.signal);
  const reply = parseChunk(text);
  builder.add(reply);
  if (!builder.started) throw new BadReply("sent JSON that is not a reply");
}

function parseChunk(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadReply("sent something that is not JSON");
  }
}

async function readStream(
  response: Response,
  clock: Clock,
  builder: ReplyBuilder,
  watchdog: Watchdog,
): Promise<void> {
  let done = false;
  let bytes = 0;
  const parser = createSseParser((data) => {
    if (done || watchdog.signal.aborted) return;
    if (data.trim() === "[DONE]") done = true;
    else builder.add(parseChunk(data));
  });
  try {
    await readChunks(response, clock, (chunk) => {
      watchdog.touch();
      bytes += chunk.length;
      if (bytes > MOST_REPLY_BYTES) throw new BadReply("sent more than 32 MiB");
      parser.push(chunk);
      return !done && !watchdog.signal.aborted;
    });
    if (!done && !watchdog.signal.aborted) endStream(parser, builder);
  } catch (error) {
    // Whatever happens behind the end of a reply does not make it worse.
    if (!builder.complete || error instanceof BadReply || error instanceof Refusal) throw error;
  }
  // An abort in the middle of a stream can look like its end.
  watchdog.signal.throwIfAborted();
  if (!done && !builder.complete) throw endedEarly(builder);
}

/** The last event counts without its blank line, but not if it was cut. */
function endStream(parser: { end(): void }, builder: ReplyBuilder): void {
  try {
    parser.end();
  } catch (error) {
    if (!(error instanceof BadReply)) throw error;
    if (!builder.complete) throw endedEarly(builder);
  }
}

function endedEarly({ started }: ReplyBuilder): BadReply {
  return new BadReply(started ? "broke off in the middle of its reply" : "sent nothing that is a reply");
}

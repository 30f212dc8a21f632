/** Calls of the Bot API: typed by grammy, sent by our own fetch, each with a time limit and an error that says what to do. */

import type { Api, InputFile, RawApi } from "grammy";
import { SendError } from "../../core/channel.ts";
import type { Clock } from "../../core/platform.ts";
import { abortable, limitSignal } from "../../lib/abort.ts";
import { errorCode } from "../../lib/error-code.ts";
import { isObject } from "../../lib/is-object.ts";
import { parseJson } from "../../lib/parse-json.ts";
import { problemOf } from "../../lib/phrases.ts";
import { readUpTo } from "./body.ts";
import { Refusal } from "./refusal.ts";

export interface BotApiOptions {
  readonly token: string;
  /** Without a slash at its end. */
  readonly apiRoot: string;
  readonly proxy: string | undefined;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}

/** The runtime's own signal, which grammy's types know under another name. */
export type CallSignal = AbortSignal & NonNullable<Parameters<RawApi["getMe"]>[0]>;

export interface BotApi {
  /**
   * Makes one call. Rejects with a `SendError`, a `Refusal` when there was an answer, or with the signal's
   * reason; the request has ended then too.
   */
  call<T>(
    run: (raw: RawApi, signal: CallSignal) => Promise<T>,
    signal: AbortSignal,
    limitMs?: number,
  ): Promise<T>;
  /** A file by the path that `getFile` told; `undefined` when it has more than `limit` bytes. Rejects likewise. */
  download(path: string, limit: number, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /** A file to be sent, for one call. */
  file(bytes: AsyncIterable<Uint8Array>, name: string): InputFile;
}

const CALL_MS = 30_000;
const DOWNLOAD_MS = 60_000;
/** A hundred updates come nowhere near it. */
const MOST_REPLY_BYTES = 32 * 1024 * 1024;

export async function createBotApi(options: BotApiOptions): Promise<BotApi> {
  const { token, apiRoot, proxy, fetch, clock } = options;
  // The edition for browsers brings no HTTP client of its own, so that nothing can bypass ours.
  const { Api, GrammyError, HttpError, InputFile } = await import("grammy/web");
  const { host } = new URL(apiRoot);

  /** The address holds the token, and runtimes put the address into their errors: neither goes on from here. */
  function unreachable(cause: unknown): SendError {
    const code = errorCode(cause);
    const problem = problemOf(cause)
      .replaceAll(encodeURIComponent(token), "<token>")
      .replaceAll(token, "<token>");
    return new SendError("down", `${host} cannot be reached: ${problem}${code ? ` (${code})` : ""}`);
  }

  async function request(url: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, { ...init, redirect: "manual", ...(proxy === undefined ? {} : { proxy }) });
    } catch (error) {
      throw unreachable(error);
    }
  }

  async function bodyOf(response: Response, limit: number, signal: AbortSignal) {
    try {
      return await abortable(readUpTo(response.body, limit), signal);
    } catch (error) {
      throw unreachable(error);
    }
  }

  /** What grammy calls in the place of its own fetch. */
  async function answer(url: string, { signal, ...init }: RequestInit): Promise<Response> {
    const abort = signal ?? new AbortController().signal;
    const response = await request(url, { ...init, signal: abort });
    const bytes = await bodyOf(response, MOST_REPLY_BYTES, abort);
    const text = new TextDecoder().decode(bytes);
    const reply = parseJson(text);
    if (!isObject(reply) || typeof reply["ok"] !== "boolean") {
      throw new SendError(
        "down",
        `${host} answered with status ${response.status} and nothing that a Bot API says`,
      );
    }
    return new Response(text);
  }

  function converted(error: unknown): unknown {
    if (error instanceof GrammyError) {
      const { error_code: code, description, parameters } = error;
      const { retry_after: seconds = 0, migrate_to_chat_id: movedTo } = parameters;
      return new Refusal({ code, description, retryAfterMs: seconds * 1_000, movedTo });
    }
    if (error instanceof HttpError) {
      return error.error instanceof SendError ? error.error : unreachable(error.error);
    }
    return error;
  }

  async function limited<T>(
    signal: AbortSignal,
    ms: number,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const reason = () => new SendError("down", `${host} did not answer within ${Math.ceil(ms / 1_000)} s`);
    const limit = limitSignal(signal, { clock, ms, reason });
    try {
      limit.signal.throwIfAborted();
      return await work(limit.signal);
    } catch (error) {
      // The reason of an abort tells more than what became of the request by it.
      throw limit.signal.aborted ? limit.signal.reason : converted(error);
    } finally {
      limit.release();
    }
  }

  const api: Api = new Api(token, {
    apiRoot,
    // Ours is by the clock, and always ends first.
    timeoutSeconds: 3_600,
    fetch: answer as unknown as typeof fetch,
  });

  return {
    file: (bytes, name) => new InputFile(bytes, name),

    call: (run, signal, limitMs = CALL_MS) =>
      limited(signal, limitMs, (limitedSignal) => run(api.raw, limitedSignal as CallSignal)),

    download: (path, limit, signal) =>
      limited(signal, DOWNLOAD_MS, async (limitedSignal) => {
        const segments = path.split("/");
        if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
          throw new SendError("refused", "Telegram told a path of a file that is none");
        }
        const url = `${apiRoot}/file/bot${token}/${segments.map(encodeURIComponent).join("/")}`;
        const response = await request(url, { signal: limitedSignal });
        if (!response.ok) {
          await response.body?.cancel();
          const kind = response.status >= 500 || response.status === 429 ? "down" : "temporary";
          throw new SendError(kind, `${host} answered the request for a file with ${response.status}`);
        }
        return bodyOf(response, limit, limitedSignal);
      }),
  };
}

/** Failures of a chat-completions call, classed once and put into one sentence for a person. */

import type { ModelError, ModelErrorKind } from "../../core/model.ts";
import { oneLine } from "../../lib/text.ts";

/** The server answered, and it was no. `body` is bounded. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly body: string;

  constructor({ status, headers, body }: { status?: number; headers?: Headers; body: string }) {
    super("the server refused the request");
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** No answer came at all. Its cause says why. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

/** We gave up waiting. `reason` reads on from "The model at …". */
export class Expired extends Error {
  override readonly name = "Expired";
  readonly kind = "transient";
}

/** The server's reply breaks the protocol or a bound. The message reads on from "The model at …". */
export class BadReply extends Error {
  override readonly name = "BadReply";
  readonly kind: ModelErrorKind;

  constructor(message: string, { kind = "transient" }: { kind?: ModelErrorKind } = {}) {
    super(message);
    this.kind = kind;
  }
}

/** What the sentences name. */
export interface CallNames {
  readonly provider: string;
  /** Scheme, host and port, without anything that could be secret. */
  readonly origin: string;
  readonly model: string;
}

const QUOTA =
  /insufficient[_ ](quota|balance|funds|credits?)|billing|credit balance|exceeded your current quota|out of credits?|payment required|key limit exceeded|reached your specified .{0,20}usage limits/i;
const CONTEXT =
  /context[_ ](length|window)|maximum context|(prompt|input|request|messages?) (is|are) too long|too many tokens|exceeds? (the )?(model'?s )?(maximum|context)|reduce the length|input token count/i;
const FILTER = /content[_ ]?(filter|policy|management)|flagged|moderation|safety system/i;
const BAD_KEY =
  /(invalid|incorrect|expired|missing).{0,20}api[ _]?key|api[ _]?key.{0,20}(invalid|not valid|expired|missing)/i;
const MODEL_MISSING =
  /model.{0,80}(not (found|exist)|does not exist|unknown|invalid|no longer)|(unknown|invalid|no such) model/i;

/** What a refusal says in words, whatever shape its vendor gives it. */
function wordsOf(body: string): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return body.trimStart().startsWith("<") ? "" : body; // A proxy's web page helps nobody.
  }
  for (let depth = 0; depth < 4 && typeof value === "object" && value !== null; depth++) {
    const holder: Record<string, unknown> = Array.isArray(value) ? { error: value[0] } : { ...value };
    value = holder["error"] ?? holder["message"] ?? holder["detail"] ?? holder["msg"];
  }
  return typeof value === "string" ? value : "";
}

function kindOf(status: number | undefined, text: string): ModelErrorKind {
  if (/insufficient_quota/.test(text)) return "quota";
  // One vendor words its limit per minute like an empty account, but says when to come again.
  if (QUOTA.test(text) && !/retry in \d/i.test(text)) return "quota";
  if (status === 402) return "quota";
  if (status === 429) return "transient";
  if (status === 401) return "auth";
  if (FILTER.test(text) && status !== undefined && status < 500) return "contentFilter";
  if (status === 403) return "auth";
  if (status === undefined || status === 408 || status === 409 || status >= 500) return "transient";
  if (status === 400 || status === 413 || status === 422) {
    if (CONTEXT.test(text)) return "contextOverflow";
    if (BAD_KEY.test(text)) return "auth";
  }
  return "badRequest";
}

function sentenceFor(kind: ModelErrorKind, refusal: Refusal, { provider, model }: CallNames): string {
  const code = refusal.status === undefined ? "" : ` (${refusal.status})`;
  const words = oneLine(wordsOf(refusal.body), 300).replace(/[.\s]+$/, "");
  const said = words === "" ? "" : `: ${words}`;
  switch (kind) {
    case "auth":
      return `${provider} refused the API key${code}`;
    case "quota":
      return `${provider} says that the account has no credit or quota left${code}`;
    case "contextOverflow":
      return `The conversation is longer than the model "${model}" accepts${code}`;
    case "contentFilter":
      return `The content filter of ${provider} stopped the request${code}`;
    case "transient":
      if (refusal.status === 429) return `${provider} asks for fewer requests${code}`;
      return `${provider} failed on its side${code}${said}`;
    default:
      if (refusal.status === 404 || MODEL_MISSING.test(words)) {
        return `${provider} does not know the model "${model}", or its address is wrong${code}${said}`;
      }
      return `${provider} refused the request${code}${said}`;
  }
}

const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

/** How long the server asked to be left alone, if it did. */
function retryAfterOf(headers: Headers, now: number): number | undefined {
  const precise = headers.get("retry-after-ms");
  const value = headers.get("retry-after");
  let wait = Number.NaN;
  if (precise !== null && precise.trim() !== "") wait = Number(precise);
  if (Number.isNaN(wait) && value !== null && value.trim() !== "") {
    wait = Number(value) * 1000;
    if (Number.isNaN(wait)) wait = Date.parse(value) - now;
  }
  if (Number.isNaN(wait)) return undefined;
  return Math.min(Math.max(0, Math.ceil(wait)), LONGEST_WAIT_MS);
}

function refused(refusal: Refusal, names: CallNames, now: number): ModelError {
  const kind = kindOf(refusal.status, refusal.body);
  const retryAfterMs = refusal.headers && retryAfterOf(refusal.headers, now);
  return {
    kind,
    message: sentenceFor(kind, refusal, names),
    ...(refusal.status === undefined ? {} : { status: refusal.status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** An error and the errors that caused it, as one text: runtimes put the telling part in different places. */
function trace(error: unknown): string {
  const parts: string[] = [];
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    parts.push(String("code" in current ? current.code : ""), current.message);
    current = current.cause;
  }
  return parts.join(" ");
}

const CONNECTION_PROBLEMS: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED|ConnectionRefused|connection refused/i, "connection refused"],
  [/ENOTFOUND|EAI_AGAIN|dns error|getaddrinfo|lookup address/i, "its host name was not found"],
  [/certificate|CERT_|self.signed|UNABLE_TO_VERIFY/i, "its TLS certificate is not trusted"],
  [/TLS|SSL|EPROTO|InvalidContentType/, "the TLS handshake failed"],
  [/ETIMEDOUT|timed? ?out/i, "the connection timed out"],
  [/EHOSTUNREACH|ENETUNREACH|unreachable/i, "the network is unreachable"],
  [/ECONNRESET|EPIPE|closed|reset/i, "the connection was closed"],
];

/** What runtimes say, in words of their own, of a reply that they cannot read. */
const REPLY_PROBLEMS: readonly (readonly [RegExp, string])[] = [
  [/ZlibError|DecompressionError|decompression error/i, "its reply could not be decompressed"],
  [
    /InvalidHTTP|InvalidContentLength|UnsupportedTransferEncoding|invalid (HTTP|chunk)|InvalidChunk/i,
    "its reply is not valid HTTP",
  ],
];

/**
 * The error for whatever `error` ended a call. `started` says that part of the reply had arrived.
 * The caller masks the secrets of its own configuration.
 */
export function describeFailure(
  error: unknown,
  names: CallNames,
  { now, started }: { now: number; started: boolean },
): ModelError {
  if (error instanceof Refusal) return refused(error, names, now);
  if (error instanceof Expired || error instanceof BadReply) {
    return { kind: error.kind, message: `The model at ${names.origin} ${error.message}` };
  }
  const details = trace(error);
  const problem = CONNECTION_PROBLEMS.find(([pattern]) => pattern.test(details))?.[1];
  if (started)
    return {
      kind: "transient",
      message: `The model at ${names.origin} broke off in the middle of its reply`,
    };
  const misread = REPLY_PROBLEMS.find(([pattern]) => pattern.test(details))?.[1];
  if (misread !== undefined) {
    return { kind: "transient", message: `The model at ${names.origin} cannot be understood: ${misread}` };
  }
  if (problem === undefined && !(error instanceof Unreachable)) {
    const words = error instanceof Error ? error.message : String(error);
    // Runtimes go on with advice to whoever wrote the program.
    const what = oneLine(words.replace(/\s*For more information.*$/is, ""), 200);
    return { kind: "badRequest", message: `The request to ${names.provider} could not be made: ${what}` };
  }
  return {
    kind: "transient",
    message: `The model at ${names.origin} did not answer: ${problem ?? "the connection failed"}`,
  };
}

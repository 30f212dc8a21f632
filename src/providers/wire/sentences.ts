/** Failures of a call to a model, each in one sentence for a person. */

import type { ModelError } from "../../core/model.ts";
import { problemOf } from "../../lib/phrases.ts";
import { oneLine } from "../../lib/text.ts";
import { classify, type RefusalClass } from "./classify.ts";
import { BadReply, BadTarget, BrokenOff, type CallFailure, Refusal, Unreachable } from "./errors.ts";

/** What the sentences name. */
export interface CallNames {
  readonly provider: string;
  /** Scheme, host and port, without anything that could be secret. */
  readonly origin: string;
  readonly model: string;
}

/**
 * The error for what ended a call. `started` says that part of the reply had arrived.
 * The caller masks the secrets of its own configuration.
 */
export function describeFailure(
  failure: CallFailure,
  names: CallNames,
  { now, started }: { now: number; started: boolean },
): ModelError {
  if (failure instanceof Refusal) return refused(failure, names, now);
  if (failure instanceof BadTarget) {
    const what = wordsOf(failure.cause);
    return { kind: "badRequest", message: `The request to ${names.provider} could not be made: ${what}` };
  }
  return {
    kind: failure instanceof BadReply ? failure.kind : "transient",
    message: `The model at ${names.origin} ${whatItDid(failure, started)}`,
  };
}

/** What a mistake in this program is told as: the same request would meet it again. */
export function describeBug(error: unknown, { provider }: CallNames): ModelError {
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return {
    kind: "badRequest",
    message: `A fault of nanobot itself stopped the request to ${provider} (${oneLine(what, 200)})`,
  };
}

function refused(refusal: Refusal, names: CallNames, now: number): ModelError {
  const { status } = refusal;
  const found = classify(refusal, now);
  return {
    kind: found.kind,
    message: refusalSentence(found, status, names),
    ...(status === undefined ? {} : { status }),
    ...(found.retryAfterMs === undefined ? {} : { retryAfterMs: found.retryAfterMs }),
  };
}

const MODEL_MISSING =
  /model.{0,80}(not (found|exist)|does not exist|unknown|invalid|no longer)|(unknown|invalid|no such) model/i;

function refusalSentence(
  { kind, words: all }: RefusalClass,
  status: number | undefined,
  { provider, model }: CallNames,
): string {
  const code = status === undefined ? "" : ` (${status})`;
  const words = oneLine(all, 300).replace(/[.\s]+$/, "");
  const said = words === "" ? "" : `: ${words}`;
  switch (kind) {
    case "auth":
      // Forbidden can be anything: a country, a model, an address.
      return status === 403
        ? `${provider} refuses access${code}${said}`
        : `${provider} refused the API key${code}`;
    case "quota":
      return `${provider} says that the account has no credit or quota left${code}`;
    case "contextOverflow":
      return `The conversation is longer than the model "${model}" accepts${code}`;
    case "contentFilter":
      return `The content filter of ${provider} stopped the request${code}`;
    case "transient":
      if (status === 429) return `${provider} asks for fewer requests${code}`;
      return `${provider} failed on its side${code}${said}`;
    default:
      if (status === 404 || MODEL_MISSING.test(words)) {
        return `${provider} does not know the model "${model}", or its address is wrong${code}${said}`;
      }
      return `${provider} refused the request${code}${said}`;
  }
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

/** Reads on from "The model at …". */
function whatItDid(failure: CallFailure, started: boolean): string {
  if (!(failure instanceof Unreachable || failure instanceof BrokenOff)) return failure.message;
  if (started) return "broke off in the middle of its reply";
  const details = trace(failure.cause);
  const misread = REPLY_PROBLEMS.find(([pattern]) => pattern.test(details))?.[1];
  if (misread !== undefined) return `cannot be understood: ${misread}`;
  const problem = CONNECTION_PROBLEMS.find(([pattern]) => pattern.test(details))?.[1];
  return `did not answer: ${problem ?? `the connection failed (${wordsOf(failure.cause)})`}`;
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

function wordsOf(error: unknown): string {
  const words = problemOf(error);
  // Runtimes go on with advice to whoever wrote the program.
  return oneLine(words.replace(/\s*For more information.*$/is, ""), 200);
}

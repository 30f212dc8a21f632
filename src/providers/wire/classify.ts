/** Which kind of failure a refusal is: by its status, its code, and its own words, and never by what it repeats of the request. */

import type { ModelErrorKind } from "../../core/model.ts";
import { isObject } from "../../lib/is-object.ts";
import { parseJson } from "../../lib/parse-json.ts";
import { head } from "../../lib/text.ts";
import type { Refusal } from "./errors.ts";

export interface RefusalClass {
  readonly kind: ModelErrorKind;
  /** What the server says to a person, bounded. Empty when it says nothing. */
  readonly words: string;
  /** How long it asked to be left alone, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

export function classify({ status, headers, body }: Refusal, now: number): RefusalClass {
  const { words, codes } = saidIn(body);
  const retryAfterMs = headers && retryAfterOf(headers, now);
  const kind = kindByCode(codes) ?? kindByStatus(status, { words: withoutQuotes(words), retryAfterMs });
  return { kind, words, retryAfterMs };
}

interface Said {
  readonly words: string;
  /** Identifiers, from the outside in. */
  readonly codes: readonly string[];
}

const LONGEST_WORDS = 2_000;
/** Of a body that is no JSON, or only the beginning of some. */
const TELLING_CHARS = 4_000;
const DEEPEST = 5;

/** What a refusal says in words, whatever shape its vendor gives it. */
function saidIn(body: string): Said {
  let value = parseJson(body);
  if (value === undefined) return saidInText(body);
  const codes: string[] = [];
  let upstream: Said | undefined;
  for (let depth = 0; depth < DEEPEST && typeof value === "object" && value !== null; depth++) {
    const fields: { readonly [key: string]: unknown } = Array.isArray(value)
      ? { error: value[0] }
      : { ...value };
    codes.push(...[fields["code"], fields["type"]].filter(isCode));
    upstream ??= upstreamOf(fields["metadata"]);
    const { error, message, detail, msg } = fields;
    value = typeof error === "object" && error !== null ? error : (message ?? detail ?? msg ?? error);
  }
  const own = typeof value === "string" ? value : "";
  const words = [own, upstream?.words ?? ""].filter((part) => part !== "").join(": ");
  return { words: head(words, LONGEST_WORDS), codes: [...codes, ...(upstream?.codes ?? [])] };
}

/** OpenRouter hands on, as text, what the one who runs the model said. */
function upstreamOf(metadata: unknown): Said | undefined {
  const raw = isObject(metadata) ? metadata["raw"] : undefined;
  return typeof raw === "string" ? saidIn(raw) : undefined;
}

function isCode(value: unknown): value is string {
  return typeof value === "string" && /^[\w.-]{1,80}$/.test(value);
}

function saidInText(body: string): Said {
  const text = head(body.trimStart(), TELLING_CHARS);
  if (text.startsWith("<")) return { words: "", codes: [] }; // A proxy's web page helps nobody.
  if (!/^[[{]/.test(text)) return { words: head(text, LONGEST_WORDS), codes: [] };
  // The beginning of JSON. Validators say what is wrong before they repeat what they were sent.
  const words = /"(?:message|msg|detail|error)"\s*:\s*"((?:[^"\\]|\\.)*)/s.exec(text)?.[1] ?? "";
  const codes = [...text.matchAll(/"(?:code|type)"\s*:\s*"([\w.-]{1,80})"/g)].slice(0, 2);
  return {
    words: head(words.replace(/\\(u[\da-f]{4}|.)/gis, " "), LONGEST_WORDS),
    codes: codes.map(([, code = ""]) => code),
  };
}

/** Opens behind a space or a bracket, so that it is no apostrophe, and not behind the name of a message. */
const QUOTED =
  /(?<=^|[\s([{:=,])(?<!(?:message|msg|error|detail)["']?\s*:\s*)(["'`])(.+?)\1(?=$|[\s)\]},.:;!?])/gis;

/** Without phrases in quotes, which are the user's more often than the server's. Names of parameters stay. */
function withoutQuotes(words: string): string {
  return words.replace(QUOTED, (whole, _quote, inside: string) => (/\s/.test(inside) ? " " : whole));
}

/** Codes that say it all, whatever the status. The first that fits. */
const CODES: readonly (readonly [RegExp, ModelErrorKind])[] = [
  [
    /^(insufficient_(quota|balance|credits?|funds)|exceeded_current_quota(_error)?|billing_(error|not_active|hard_limit_reached)|payment_required|arrearage|accountoverdueerror)$/i,
    "quota",
  ],
  [
    /^(context_length_exceeded|context_window_exceeded|exceed_context_size_error|request_too_large)$/i,
    "contextOverflow",
  ],
  [/^(content_filter|content_policy_violation|data_inspection_failed)$/i, "contentFilter"],
];

function kindByCode(codes: readonly string[]): ModelErrorKind | undefined {
  return CODES.find(([says]) => codes.some((code) => says.test(code)))?.[1];
}

/** The account, and not the pace: many vendors send those who ask too often to a page about billing. */
const EMPTY_ACCOUNT =
  /insufficient[_ ](quota|balance|funds|credits?)|exceeded your current quota|credit balance|out of credits?|all available credits|spending limit|billing hard limit|billing to be enabled|account is not active|payment required|key limit exceeded|reached your specified .{0,20}usage limits|余额不足|欠费/i;
const TOO_LONG =
  /context[_ ]?(length|window|size|limit)[_ ]?exceeded|exceed\w* (the )?(available |model'?s? |current )*(maximum|context|token limit)|(maximum|max) (context|prompt|input|sequence)|context (length|window|size|limit) (of|is)\b|(prompt|input|request|messages?|conversation) (is|are) too (long|large)|too (long|large) for (the |this )?model|too many (input )?tokens|reduce (the length|your (prompt|message))|input token count|tokens\W.{0,40}must be <=/i;
const FILTERED =
  /content[ _-]?(filter|policy|management)|(is|was|were|been) flagged|flagged (as|by|for)|requires moderation|safety system|content exists risk|considered high risk|inappropriate content/i;
const BAD_KEY =
  /(invalid|incorrect|expired|missing).{0,20}api[ _]?key|api[ _]?key.{0,20}(invalid|not valid|expired|missing)/i;

interface Telling {
  readonly words: string;
  readonly retryAfterMs: number | undefined;
}

/** What a server in trouble says may be anything, so its words count for nothing. */
function kindByStatus(status: number | undefined, telling: Telling): ModelErrorKind {
  const { words } = telling;
  switch (status) {
    case 400:
      if (EMPTY_ACCOUNT.test(words)) return "quota";
      if (FILTERED.test(words)) return "contentFilter";
      if (TOO_LONG.test(words)) return "contextOverflow";
      return BAD_KEY.test(words) ? "auth" : "badRequest";
    case 401:
      return EMPTY_ACCOUNT.test(words) ? "quota" : "auth";
    case 402:
      return "quota";
    case 403:
      if (EMPTY_ACCOUNT.test(words)) return "quota";
      return FILTERED.test(words) ? "contentFilter" : "auth";
    case 413:
      return "contextOverflow";
    case 422:
      return TOO_LONG.test(words) ? "contextOverflow" : "badRequest";
    case 429:
      return isEmptyAccount(telling) ? "quota" : "transient";
    case undefined:
      // An error inside a reply has no status to go by.
      if (isEmptyAccount(telling)) return "quota";
      return TOO_LONG.test(words) ? "contextOverflow" : "transient";
    default:
      return status === 408 || status === 409 || status >= 500 ? "transient" : "badRequest";
  }
}

/** An account that is filled up by itself within this time is not empty. */
const SOON_MS = 6 * 60 * 60 * 1000;

/** Some vendors word a limit per minute like an empty account, but say when to come again. */
function isEmptyAccount({ words, retryAfterMs = Number.POSITIVE_INFINITY }: Telling): boolean {
  const saysWhen =
    retryAfterMs <= SOON_MS || /\b(try again|retry) (in|after) (about )?(\d|an?\b)/i.test(words);
  return EMPTY_ACCOUNT.test(words) && !saysWhen;
}

const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

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

/** Who sent a request: signatures over its raw body, compared in constant time, and made the same way. */

import { Buffer } from "node:buffer";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { UserError } from "../core/errors.ts";

/**
 * `stale` is signed well and outside of the window of time, so that a clock is wrong or somebody sends it
 * again. `missing` carries nothing to check. Only `ok` is let in.
 */
export type Verdict = "ok" | "bad" | "stale" | "missing";

/** As it came over the wire. */
export interface SignedRequest {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

interface Now {
  /** Milliseconds since the epoch. */
  readonly now: number;
}

type SigningHeaders = Readonly<Record<string, string>>;

/** Into the past and into the future, as Slack and Standard Webhooks ask for. */
const WINDOW_SECONDS = 300;

/** Slack's `v0`: hex over `v0:timestamp:body`. */
export function verifySlack(
  { headers, body }: SignedRequest,
  { secret, now }: { readonly secret: string } & Now,
): Verdict {
  const given = headers.get("x-slack-signature");
  const timestamp = headers.get("x-slack-request-timestamp");
  if (!given || !timestamp) return "missing";
  if (secret === "" || !isTimestamp(timestamp)) return "bad";
  if (!isSame(hexAfter("v0=", given), slackMac(secret, timestamp, body))) return "bad";
  return isRecent(timestamp, now) ? "ok" : "stale";
}

export function signSlack(
  body: Uint8Array,
  { secret, now }: { readonly secret: string } & Now,
): SigningHeaders {
  const timestamp = secondsOf(now);
  return {
    "x-slack-request-timestamp": timestamp,
    "x-slack-signature": `v0=${slackMac(secret, timestamp, body).toString("hex")}`,
  };
}

function slackMac(secret: string, timestamp: string, body: Uint8Array): Buffer {
  return createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest();
}

/** GitHub's `X-Hub-Signature-256`. It has no time: whoever uses it knows events again by their id. */
export function verifyGithub(
  { headers, body }: SignedRequest,
  { secret }: { readonly secret: string },
): Verdict {
  const given = headers.get("x-hub-signature-256");
  if (!given) return "missing";
  if (secret === "") return "bad";
  return isSame(hexAfter("sha256=", given), githubMac(secret, body)) ? "ok" : "bad";
}

export function signGithub(body: Uint8Array, { secret }: { readonly secret: string }): SigningHeaders {
  return { "x-hub-signature-256": `sha256=${githubMac(secret, body).toString("hex")}` };
}

function githubMac(secret: string, body: Uint8Array): Buffer {
  return createHmac("sha256", secret).update(body).digest();
}

/** Standard Webhooks: `webhook-id`, `webhook-timestamp`, and any of the `v1` signatures in `webhook-signature`. */
export function verifyStandardWebhooks(
  { headers, body }: SignedRequest,
  { secret, now }: { readonly secret: string } & Now,
): Verdict {
  const id = headers.get("webhook-id");
  const timestamp = headers.get("webhook-timestamp");
  const given = headers.get("webhook-signature");
  if (!id || !timestamp || !given) return "missing";
  const key = standardKey(secret);
  // With a dot in it, what was signed for one event would be good for another: id, time and body have dots between.
  if (key === undefined || id.includes(".") || !isTimestamp(timestamp)) return "bad";
  const wanted = standardMac(key, id, timestamp, body);
  const signatures = given.split(" ").filter((part) => part.startsWith("v1,"));
  const isAny = signatures.some((part) => isSame(fromBase64(part.slice("v1,".length)), wanted));
  if (!isAny) return "bad";
  return isRecent(timestamp, now) ? "ok" : "stale";
}

/** Throws a `UserError` for a secret that is none. */
export function signStandardWebhooks(
  body: Uint8Array,
  { id, secret, now }: { readonly id: string; readonly secret: string } & Now,
): SigningHeaders {
  const key = standardKey(secret);
  if (key === undefined) {
    throw new UserError("Cannot sign: the secret of Standard Webhooks is not base64", {
      hint: "It looks like whsec_ and about 32 letters, digits, + and /",
    });
  }
  const timestamp = secondsOf(now);
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${standardMac(key, id, timestamp, body).toString("base64")}`,
  };
}

/** Whether the secret can be used at all, for whoever reads a configuration. */
export function isStandardSecret(secret: string): boolean {
  return standardKey(secret) !== undefined;
}

function standardKey(secret: string): Buffer | undefined {
  const key = fromBase64(secret.startsWith("whsec_") ? secret.slice("whsec_".length) : secret);
  return key === undefined || key.length === 0 ? undefined : key;
}

function standardMac(key: Buffer, id: string, timestamp: string, body: Uint8Array): Buffer {
  return createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
}

/** `Authorization: Bearer TOKEN`. */
export function verifyBearer(headers: Headers, token: string): Verdict {
  const given = headers.get("authorization");
  if (!given) return "missing";
  const [, credentials] = /^bearer +(\S+)$/i.exec(given) ?? [];
  return credentials !== undefined && isSameSecret(credentials, token) ? "ok" : "bad";
}

/** For secrets of any length: how long it takes tells nothing about either. No secret is like none at all. */
export function isSameSecret(given: string, secret: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return secret !== "" && timingSafeEqual(digest(given), digest(secret));
}

/** How long a signature is, is no secret. */
function isSame(given: Buffer | undefined, wanted: Buffer): boolean {
  return given !== undefined && given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** Only whole bytes, and nothing beside them: the decoder would leave out what it does not know. */
function hexAfter(prefix: string, text: string): Buffer | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const hex = text.slice(prefix.length);
  return /^(?:[0-9a-f]{2})*$/i.test(hex) ? Buffer.from(hex, "hex") : undefined;
}

/** In the one spelling that encoders write, with or without its padding: the decoder would take many. */
function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  const spelled = bytes.toString("base64");
  return text === spelled || text === spelled.replace(/=+$/, "") ? bytes : undefined;
}

/** Seconds in plain digits, as all of them are sent. */
function isTimestamp(text: string): boolean {
  return /^\d{1,12}$/.test(text);
}

function isRecent(timestamp: string, now: number): boolean {
  return Math.abs(Number(timestamp) - now / 1000) <= WINDOW_SECONDS;
}

function secondsOf(now: number): string {
  return String(Math.floor(now / 1000));
}

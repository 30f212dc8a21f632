/** What is requested next when a server sends a request elsewhere, and what of it may not go there. */

import { Buffer } from "node:buffer";
import type { WebRequest } from "../core/web.ts";
import type { IncomingResponse } from "./web-request.ts";

/** One request of a chain. */
export interface Hop {
  readonly url: string;
  readonly method: "GET" | "HEAD" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
  /** Some redirect on the way here led from https to http. */
  readonly downgraded: boolean;
}

/** A redirect that would carry what it must not. */
export class NotFollowed extends Error {}

/** Set by the guard and the connection, or a credential that is not the caller's to give. */
const NEVER_SENT = new Set(
  [
    "accept-encoding connection content-length cookie cookie2 expect host keep-alive proxy-authorization",
    "proxy-connection te trailer transfer-encoding upgrade user-agent",
  ].flatMap((names) => names.split(" ")),
);

/** All that another address gets to see: any other header could be a key. */
const SENT_ON: ReadonlySet<string> = new Set(["accept", "accept-language"]);
const SENT_ON_WITH_BODY: ReadonlySet<string> = new Set([...SENT_ON, "content-type"]);

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function firstHop(url: string, { method = "GET", headers = {}, body }: WebRequest): Hop {
  const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    url,
    method,
    headers: Object.fromEntries(sent.filter(([name]) => !NEVER_SENT.has(name))),
    body: method === "POST" ? (body ?? "") : undefined,
    downgraded: false,
  };
}

/** `undefined` when the response is an answer. */
export function nextHop(hop: Hop, { status, headers }: IncomingResponse): Hop | undefined {
  const location = headers["location"];
  // One that says nothing leads nowhere, as in browsers.
  if (!REDIRECTS.has(status) || location === undefined || location.trim() === "") return undefined;
  const from = new URL(hop.url);
  const to = URL.parse(asUtf8(location), from.href);
  if (to === null) throw new NotFollowed("redirects to something that is not an address");

  const keepsBody = status === 307 || status === 308;
  if (hop.method === "POST" && keepsBody && to.origin !== from.origin) {
    throw new NotFollowed(`redirects to ${to.origin}, and what was to be sent was not meant for that`);
  }
  const method = hop.method === "POST" && !keepsBody ? "GET" : hop.method;
  const kept = method === "POST" ? SENT_ON_WITH_BODY : SENT_ON;
  return {
    url: to.href,
    method,
    headers: Object.fromEntries(Object.entries(hop.headers).filter(([name]) => kept.has(name))),
    body: method === "POST" ? hop.body : undefined,
    downgraded: hop.downgraded || (from.protocol === "https:" && to.protocol === "http:"),
  };
}

/** Headers arrive byte by byte, and many servers write addresses in UTF-8. */
function asUtf8(text: string): string {
  // Decoded already, or plain.
  if (!/[\x80-\xff]/.test(text) || /[^\x00-\xff]/.test(text)) return text;
  return Buffer.from(text, "latin1").toString("utf8");
}

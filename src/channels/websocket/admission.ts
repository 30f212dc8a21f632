/** Who may connect: whoever knows the token, and no page of an origin that the owner did not name. */

import { Buffer } from "node:buffer";
import { isSameSecret, verifyBearer } from "../../lib/signatures.ts";
import { EVERY_ORIGIN } from "./config.ts";

/** What clients say they speak, beside the token that browsers can send in no other place. */
const PROTOCOL = "nanobot.v1";
const TOKEN_PREFIX = "nanobot.token.";

export type Admission =
  /** `protocol` is the one of those the client offers that it must be told. */
  | { readonly ok: true; readonly protocol?: string }
  | { readonly ok: false; readonly status: 401 | 403; readonly reason: string };

export interface AdmissionRules {
  readonly token: string;
  readonly allowedOrigins: readonly string[];
}

export function admission(headers: Headers, { token, allowedOrigins }: AdmissionRules): Admission {
  const offered = (headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
  const withToken = offered.find((name) => isToken(name, token));
  // Where it comes from gives no rights: behind a tunnel everybody comes from this machine.
  if (verifyBearer(headers, token) !== "ok" && withToken === undefined) {
    return { ok: false, status: 401, reason: "unauthorized" };
  }
  const origin = headers.get("origin");
  if (origin !== null && !allowedOrigins.includes(EVERY_ORIGIN) && !allowedOrigins.includes(origin)) {
    return { ok: false, status: 403, reason: "this origin is not in channels.websocket.allowedOrigins" };
  }
  // Some browsers hang up when none of what they offer is chosen, and the token is better not said again.
  const protocol = offered.includes(PROTOCOL) ? PROTOCOL : withToken;
  return protocol === undefined ? { ok: true } : { ok: true, protocol };
}

function isToken(name: string, token: string): boolean {
  if (!name.startsWith(TOKEN_PREFIX)) return false;
  return isSameSecret(Buffer.from(name.slice(TOKEN_PREFIX.length), "base64url").toString(), token);
}

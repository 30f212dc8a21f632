/** What went wrong on the network, in words that follow the name of a server. */

import { errorCode } from "../lib/error-code.ts";
import { problemOf } from "../lib/phrases.ts";

const NOT_CONNECTED: ReadonlySet<string> = new Set([
  "ConnectionRefused",
  "EADDRNOTAVAIL",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
]);
const NOT_FOUND: ReadonlySet<string> = new Set(["EAI_AGAIN", "ENOTFOUND"]);

/** No connection came about, so that nothing was sent. */
export function isNotConnected(error: unknown): boolean {
  return NOT_CONNECTED.has(errorCode(error) ?? "");
}

/** The name has no address, or nobody could be asked. */
export function isNotFound(error: unknown): boolean {
  return NOT_FOUND.has(errorCode(error) ?? "");
}

const WORDS: Readonly<Record<string, string>> = {
  ConnectionRefused: "refuses connections",
  ECONNREFUSED: "refuses connections",
  ECONNRESET: "broke off the connection",
  EHOSTUNREACH: "cannot be reached",
  ENETUNREACH: "cannot be reached",
  ETIMEDOUT: "does not answer",
  ENOTFOUND: "has no address: there is no such name",
  EAI_AGAIN: "could not be resolved: the name server does not answer",
  ERR_TLS_CERT_ALTNAME_INVALID: "has a certificate for another name",
  CERT_HAS_EXPIRED: "has a certificate that has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "has a certificate that nobody vouches for",
  SELF_SIGNED_CERT_IN_CHAIN: "has a certificate that nobody vouches for",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "has a certificate that nobody vouches for",
};

export function whatWentWrong(error: unknown): string {
  const known = WORDS[errorCode(error) ?? ""];
  if (known !== undefined) return known;
  return `failed: ${problemOf(error)}`;
}

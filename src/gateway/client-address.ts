/** Whose request it is, for logs: behind a tunnel every connection comes from this machine. It gives no rights. */

import { UserError } from "../core/errors.ts";

/** Longer is no address. */
const MAX_LENGTH = 64;

export type ClientAddress = (peer: string, headers: Headers) => string;

/**
 * What Cloudflare says counts only when the connection is from one of `trustedProxies`. `X-Forwarded-For` is
 * never read, since anybody can begin it. Throws a `UserError` for an entry that is no address and no network.
 */
export async function createClientAddress(trustedProxies: readonly string[]): Promise<ClientAddress> {
  if (trustedProxies.length === 0) return (peer) => peer;
  const { isAddressIn, parseRange } = await import("../lib/address.ts");
  const trusted = trustedProxies.map((entry, index) => {
    const range = parseRange(entry.trim());
    if (range !== undefined) return range;
    throw new UserError(
      `Read gateway.trustedProxies[${index}]: ${JSON.stringify(entry)} is neither an address nor a network`,
      { hint: "Write it as 127.0.0.1, ::1 or 10.0.0.0/8" },
    );
  });

  return (peer, headers) => {
    const said = headers.get("cf-connecting-ip");
    if (said === null || said.length > MAX_LENGTH || said.includes("/")) return peer;
    if (!isAddressIn(peer, trusted)) return peer;
    return parseRange(said)?.[0].toString() ?? peer;
  };
}

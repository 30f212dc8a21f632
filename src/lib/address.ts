/** Which IP addresses a request of a tool may go to: those of the public internet, and what the owner listed. */

import ipaddr from "ipaddr.js";
import { UserError } from "../core/errors.ts";

type Ip = ReturnType<typeof ipaddr.parse>;

/** Networks, as `parseRange` understands them. */
export type AddressRanges = readonly (readonly [Ip, number])[];

export type Judgement =
  | { readonly ok: true /** It is the owner who allows it. */; readonly isListed: boolean }
  | { readonly ok: false /** `127.0.0.1 is a loopback address`. */; readonly reason: string };

const KINDS: Readonly<Record<string, string>> = {
  loopback: "a loopback address",
  private: "a private address",
  uniqueLocal: "a private address",
  linkLocal: "a link-local address",
  carrierGradeNat: "a shared address of a carrier",
  unspecified: "an address of this machine",
  multicast: "a multicast address",
  broadcast: "a broadcast address",
  rfc6052: "a translated IPv4 address",
  rfc6145: "a translated IPv4 address",
  "6to4": "a translated IPv4 address",
  teredo: "a translated IPv4 address",
};

/** Public by its number, and yet what answers there is the cloud's own service for this machine. */
const METADATA: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** Judges an address as a resolver or `URL` writes it; other spellings are no addresses. */
export function judgeAddress(text: string, whitelist: AddressRanges = []): Judgement {
  const ip = parseAddress(text);
  if (ip === undefined) return { ok: false, reason: `${JSON.stringify(text)} is not an IP address` };
  if (isWithin(ip, whitelist)) return { ok: true, isListed: true };
  const kind = whyNotPublic(ip);
  if (kind !== undefined) return { ok: false, reason: `${ip.toString()} is ${kind}` };
  return { ok: true, isListed: false };
}

function whyNotPublic(ip: Ip): string | undefined {
  if (METADATA.has(ip.toString())) return "a metadata address of a cloud";
  const range: string = ip.range();
  if (range !== "unicast") return KINDS[range] ?? "a reserved address";
  // Outside of 2000::/3 nothing is public. `::7f00:1`, which is 127.0.0.1 in another guise, passes for unicast.
  if ("parts" in ip && ((ip.parts[0] ?? 0) & 0xe000) !== 0x2000) return "a reserved address";
  return undefined;
}

/** An IPv4 address inside an IPv6 one counts as what it is. `undefined` for anything but the usual spelling. */
function parseAddress(spelt: string): Ip | undefined {
  const text = withoutDots(spelt);
  const isUsual = ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
  return isUsual ? ipaddr.process(text) : undefined;
}

/** Resolvers write the end of `::8.8.8.8` so, which the parser takes for 8.8.8.8 and connections do not. */
function withoutDots(text: string): string {
  return text.replace(
    /^([0-9a-f:]*:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?=%|$)/i,
    (whole, start: string, ...ends: string[]) => {
      const [a = 0, b = 0, c = 0, d = 0] = ends.slice(0, 4).map(Number);
      if ([a, b, c, d].some((byte) => byte > 255)) return whole;
      return `${start}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
    },
  );
}

function isWithin(ip: Ip, ranges: AddressRanges): boolean {
  return ranges.some(([network, bits]) => network.kind() === ip.kind() && ip.match(network, bits));
}

/** Whether an address lies in one of the networks. What is no address lies in none. */
export function isAddressIn(text: string, ranges: AddressRanges): boolean {
  const ip = parseAddress(text);
  return ip !== undefined && isWithin(ip, ranges);
}

/** A network such as `10.0.0.0/8`, or a single address; `undefined` for anything else. */
export function parseRange(text: string): AddressRanges[number] | undefined {
  const isNetwork = ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text);
  if (isNetwork) {
    const [network, bits] = ipaddr.parseCIDR(text);
    // Addresses are compared as IPv4 then, so that this would never match.
    const isMapped = "parts" in network && network.isIPv4MappedAddress();
    return isMapped ? undefined : [network, bits];
  }
  const ip = parseAddress(text);
  return ip && [ip, ip.kind() === "ipv4" ? 32 : 128];
}

/** Throws a `UserError` for an entry that is neither a network nor an address. */
export function parseWhitelist(entries: readonly string[]): AddressRanges {
  return entries.map((entry, index) => {
    const range = parseRange(entry.trim());
    if (range !== undefined) return range;
    throw new UserError(
      `Read tools.ssrfWhitelist[${index}]: ${JSON.stringify(entry)} is neither a network nor an address`,
      { hint: "Write it as 10.0.0.0/8, 192.168.1.20 or fd00::/8" },
    );
  });
}

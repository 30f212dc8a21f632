/** Which proxy a request goes through, by the usual environment variables. */

import type { Environment } from "../core/platform.ts";
import { isAddressIn, parseRange } from "./address.ts";

export interface ProxyOptions {
  /** Goes before what the environment says. */
  readonly proxy?: string | undefined;
  readonly env: Environment;
}

/** `undefined` for a direct connection. The text is as it was written: it may be no address at all. */
export function proxyFor(url: URL, { proxy, env }: ProxyOptions): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  if (isExcepted(host, port, read(env, "no_proxy") ?? "")) return undefined;
  return proxy || read(env, `${url.protocol.slice(0, -1)}_proxy`) || read(env, "all_proxy");
}

/** `undefined` where it is no address that requests can go through: a host with or without its `http://`. */
export function parseProxy(text: string): URL | undefined {
  const address = URL.parse(text.includes("://") ? text : `http://${text}`);
  return address !== null && /^https?:$/.test(address.protocol) ? address : undefined;
}

/** The lower-case form goes first, as with curl. */
function read(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined;
}

function isExcepted(host: string, port: string, exceptions: string): boolean {
  return exceptions
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => matches(host, port, entry.toLowerCase()));
}

/** `*`, a network, an address, or a name that stands for what is below it too; the last two with a port or without. */
function matches(host: string, port: string, entry: string): boolean {
  if (entry === "*") return true;
  const range = parseRange(entry);
  if (range !== undefined) return isAddressIn(host, [range]);
  const [, address, name = entry, onlyPort] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d*))?$/.exec(entry) ?? [];
  if (onlyPort && onlyPort !== port) return false;
  const suffix = (address ?? name).replace(/^\*?\./, "").replace(/\.$/, "");
  return suffix === "*" || host === suffix || host.endsWith(`.${suffix}`);
}

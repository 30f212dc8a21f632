/** The network guard: every request of a tool is judged here, sent to the address that was judged, and again at each redirect. */

import type { Clock, Environment } from "../core/platform.ts";
import type { GuardedFetch, WebFailure, WebRequest, WebResponse } from "../core/web.ts";
import { abortable, limitSignal } from "../lib/abort.ts";
import { type AddressRanges, isAddressIn, judgeAddress } from "../lib/address.ts";
import { parseProxy, proxyFor } from "../lib/proxy.ts";
import { parseWebAddress, type WebAddress } from "../lib/web-address.ts";
import { isNotConnected, isNotFound, whatWentWrong } from "./network-error.ts";
import { ACCEPT_ENCODING, type BoundedBody, readBody } from "./web-body.ts";
import { firstHop, type Hop, NotFollowed, nextHop } from "./web-redirect.ts";
import type { IncomingResponse, OutgoingRequest, SendRequest } from "./web-request.ts";

/** All the addresses of a name. Rejects when there are none. */
type LookUp = (name: string) => Promise<readonly string[]>;

export interface GuardedFetchOptions {
  readonly lookUp: LookUp;
  readonly send: SendRequest;
  readonly clock: Clock;
  readonly whitelist?: AddressRanges;
  /** Where the usual variables may name a proxy. */
  readonly env?: Environment;
  /** The configured proxy, which goes before them. */
  readonly proxy?: string | undefined;
  /** Names that cannot be resolved here are left to the proxy, and where they lead is then not checked. */
  readonly proxyResolvesNames?: boolean;
  /** Why `send` can reach no proxy; left out where it can. */
  readonly whyNoProxy?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** What is tried of a name with many addresses. */
const MOST_ADDRESSES = 4;
/** How long somebody waits who only wants to know whether there would be a refusal. */
const LOOK_UP_MS = 5_000;
const LOOPBACK = ["127.0.0.1", "::1"];
const PROXY_SETTINGS = "tools.web.proxy (or the variable that names the proxy)";

interface Allowed {
  readonly addresses: readonly string[];
  /** The owner alone allows some of them. */
  readonly isListed: boolean;
}

/** A decision of the guard. */
class Refused extends Error {}
/** Something went wrong on the network. */
class Failed extends Error {}
class TookTooLong extends Error {}

export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { lookUp, send, clock, whitelist = [], env = {}, proxy, userAgent = "nanobot" } = options;

  /** The addresses to connect to, every one of them allowed; none when the proxy is to find the name. */
  async function resolve(target: WebAddress, proxied: boolean, signal: AbortSignal): Promise<Allowed> {
    const { host, kind } = target;
    const addresses = known(host, kind) ?? (await find(host, kind, proxied, signal));
    let isListed = false;
    for (const address of addresses) {
      const judgement = judgeAddress(address, whitelist);
      if (!judgement.ok) throw refusedAddress(target, judgement.reason);
      isListed ||= judgement.isListed;
      // A name of this machine or its network that leads into the internet is somebody's trap or mistake.
      if (kind === "local" && !judgement.isListed) throw refusedAddress(target, `${host} is a local name`);
    }
    // Where there is no route for IPv6, connecting to it can take as long as the whole request may.
    const order = addresses.toSorted((a, b) => Number(a.includes(":")) - Number(b.includes(":")));
    return { addresses: order, isListed };
  }

  /** What needs no resolver. Programs listen on either loopback address, and the owner need not list both. */
  function known(host: string, kind: WebAddress["kind"]): readonly string[] | undefined {
    if (kind === "address") return [host];
    if (!/(^|\.)localhost$/.test(host)) return undefined;
    const listed = LOOPBACK.filter((address) => isAddressIn(address, whitelist));
    return listed.length > 0 ? listed : LOOPBACK;
  }

  async function find(
    host: string,
    kind: WebAddress["kind"],
    proxied: boolean,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    try {
      const addresses = await abortable(lookUp(host), signal);
      if (addresses.length > 0) return addresses;
    } catch (cause) {
      signal.throwIfAborted();
      if (!proxied) throw new Failed(`${host} ${whatWentWrong(cause)}`, { cause });
    }
    if (!proxied) throw new Failed(`${host} has no address`);
    if (kind === "local")
      throw new Refused(`${host} is a local name, and where it leads cannot be checked here`);
    if (options.proxyResolvesNames) return [];
    throw new Refused(
      `${host} cannot be resolved on this machine, so where it leads cannot be checked; ` +
        "tools.web.proxyResolvesNames allows leaving that to the proxy",
    );
  }

  function proxyOf({ url }: WebAddress): URL | undefined {
    const text = proxyFor(url, { proxy, env });
    if (text === undefined) return undefined;
    const address = parseProxy(text);
    if (address === undefined) {
      throw new Refused(
        "the configured proxy is not an http or https address, and requests go through no other; " +
          `write ${PROXY_SETTINGS} as http://host:port`,
      );
    }
    if (options.whyNoProxy !== undefined) throw new Refused(options.whyNoProxy);
    return address;
  }

  async function connect(
    hop: Hop,
    signal: AbortSignal,
  ): Promise<{ response: IncomingResponse; isListed: boolean }> {
    const target = parse(hop.url);
    const through = proxyOf(target);
    const { addresses, isListed } = await resolve(target, through !== undefined, signal);
    const request = {
      url: target.url,
      proxy: through,
      method: hop.method,
      headers: { ...hop.headers, "user-agent": userAgent, "accept-encoding": ACCEPT_ENCODING },
      body: hop.body,
      signal,
    };
    const candidates = addresses.length === 0 ? [undefined] : addresses.slice(0, MOST_ADDRESSES);
    const response = await sendToFirst(request, candidates);
    if (through === undefined || response.status !== 407) return { response, isListed };
    response.cancel();
    throw new Failed(
      `the proxy ${through.host} wants a user name and a password, or others than it was given; ` +
        `write ${PROXY_SETTINGS} as http://user:password@host:port`,
    );
  }

  /** Goes on to the next address where no connection came about, so that nothing is ever sent twice. */
  async function sendToFirst(
    request: Omit<OutgoingRequest, "address">,
    [address, ...others]: readonly (string | undefined)[],
  ): Promise<IncomingResponse> {
    try {
      return await send({ ...request, address });
    } catch (cause) {
      request.signal.throwIfAborted();
      const { url, proxy: through } = request;
      if (through !== undefined) throw new Failed(proxyTrouble(url, through, cause), { cause });
      if (others.length > 0 && isNotConnected(cause)) return sendToFirst(request, others);
      throw new Failed(`${url.host} ${whatWentWrong(cause)}`, { cause });
    }
  }

  async function follow(start: string, request: WebRequest, signal: AbortSignal): Promise<WebResponse> {
    const { maxBytes, maxRedirects = 5 } = request;
    let hop = firstHop(start, request);
    let isListed = false;
    for (let redirects = 0, from = ""; ; redirects += 1) {
      const connection = await connect(hop, signal).catch((error: unknown) => {
        throw from !== "" && error instanceof Refused
          ? new Refused(`redirected by ${from}: ${error.message}`)
          : error;
      });
      const { response } = connection;
      isListed ||= connection.isListed;
      try {
        const next = nextHop(hop, response);
        if (next === undefined) {
          const body = await readAll(response, hop, maxBytes, signal);
          return {
            ok: true,
            url: start,
            finalUrl: parse(hop.url).url.href,
            status: response.status,
            headers: withoutCookies(response.headers),
            downgraded: hop.downgraded,
            isListed,
            ...body,
          };
        }
        if (redirects >= maxRedirects) throw new Failed(`redirected more than ${maxRedirects} times`);
        from = new URL(hop.url).host;
        hop = next;
      } finally {
        response.cancel();
      }
    }
  }

  return {
    async fetch(url, request) {
      const { signal, timeoutMs } = request;
      signal.throwIfAborted();
      const limit = limitSignal(signal, { clock, ms: timeoutMs, reason: () => new TookTooLong() });
      try {
        return await abortable(follow(url, request, limit.signal), limit.signal);
      } catch (error) {
        signal.throwIfAborted();
        return failure(limit.signal.aborted ? limit.signal.reason : error, timeoutMs);
      } finally {
        limit.release();
      }
    },

    async whyRefused(url, signal) {
      signal.throwIfAborted();
      const limit = limitSignal(signal, { clock, ms: LOOK_UP_MS, reason: () => new TookTooLong() });
      try {
        await resolve(parse(url), false, limit.signal);
        return undefined;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof Refused) return error.message;
        // It has no address here, so that there is nothing to refuse.
        if (error instanceof Failed || error instanceof TookTooLong) return undefined;
        throw error;
      } finally {
        limit.release();
      }
    },
  };
}

function parse(text: string): WebAddress {
  const parsed = parseWebAddress(text);
  if (!parsed.ok) throw new Refused(`not a web address that can be requested: ${parsed.reason}`);
  return parsed;
}

function refusedAddress({ url, host, kind }: WebAddress, reason: string): Refused {
  const where = kind === "address" ? "" : `${host} leads to an address inside: `;
  const detail = reason.startsWith(host) ? reason : where + reason;
  return new Refused(`${url.origin} may not be requested: ${detail}; tools.ssrfWhitelist can allow it`);
}

/** Never with the address of the proxy in full: it may have a password in it. */
function proxyTrouble(url: URL, through: URL, cause: unknown): string {
  const trouble = whatWentWrong(cause);
  // That the server cannot be reached from there a proxy would say in an answer.
  return isNotConnected(cause) || isNotFound(cause)
    ? `the proxy ${through.host} ${trouble}, and ${url.host} was not asked; check ${PROXY_SETTINGS}`
    : `${url.host}, asked through the proxy ${through.host}, ${trouble}`;
}

function failure(error: unknown, timeoutMs: number): WebFailure {
  if (error instanceof Refused) return { ok: false, kind: "refused", reason: error.message };
  if (error instanceof NotFollowed) return { ok: false, kind: "refused", reason: error.message };
  if (error instanceof Failed) return { ok: false, kind: "failed", reason: error.message };
  if (error instanceof TookTooLong) {
    return { ok: false, kind: "failed", reason: `took longer than ${timeoutMs / 1000} s` };
  }
  throw error;
}

async function readAll(
  { status, headers, body }: IncomingResponse,
  { url, method }: Hop,
  maxBytes: number,
  signal: AbortSignal,
): Promise<BoundedBody> {
  const hasBody = method !== "HEAD" && status !== 204 && status !== 304;
  if (!hasBody) return { body: new Uint8Array(), truncated: false };
  try {
    return await readBody(body, headers["content-encoding"] ?? "", maxBytes);
  } catch (cause) {
    signal.throwIfAborted();
    throw new Failed(`${new URL(url).host} sent a body that cannot be read: ${whatWentWrong(cause)}`, {
      cause,
    });
  }
}

function withoutCookies(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("set-cookie")));
}

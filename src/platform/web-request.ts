/** Sends one request to one address that somebody has checked, and follows nothing. */

import * as http from "node:http";
import * as https from "node:https";
import type { Environment } from "../core/platform.ts";

export interface OutgoingRequest {
  readonly url: URL;
  /** Where it goes, whatever the name resolves to by now. `undefined`: the proxy finds the name. */
  readonly address: string | undefined;
  readonly proxy: URL | undefined;
  readonly method: "GET" | "HEAD" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
  readonly signal: AbortSignal;
}

export interface IncomingResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** As it came over the wire. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection. Safe at any time. */
  cancel(): void;
}

/** Rejects when no response came. */
export type SendRequest = (request: OutgoingRequest) => Promise<IncomingResponse>;

export interface SenderOptions {
  /** For requests through a proxy. */
  readonly fetch: typeof fetch;
  /** Authorities that are trusted, in place of the system's. */
  readonly ca?: string;
}

export function createSender({ fetch, ca }: SenderOptions): SendRequest {
  return (request) => {
    if (request.proxy === undefined) return sendDirect(request, ca);
    // Deno's fetch takes neither a proxy nor a name to verify, but its node:http goes through the proxy itself.
    if (!("Bun" in globalThis)) return sendDirect(request, ca);
    return sendThroughProxy(request, fetch, ca);
  };
}

/** Why a proxy cannot be used in this runtime; `undefined` when it can. */
export function whyNoProxy(env: Environment, configured = ""): string | undefined {
  if ("Bun" in globalThis) return undefined;
  if (configured !== "")
    return "tools.web.proxy is not supported on Deno; set HTTPS_PROXY and HTTP_PROXY instead";
  if (env["NODE_USE_ENV_PROXY"] === "1") return undefined;
  return "on Deno requests go through a proxy only with NODE_USE_ENV_PROXY=1 in the environment";
}

function isAddress(host: string): boolean {
  return host.startsWith("[") || /^[\d.]+$/.test(host);
}

function sendDirect(request: OutgoingRequest, ca: string | undefined): Promise<IncomingResponse> {
  const { url, address = url.hostname, method, headers, body, signal } = request;
  const isTls = url.protocol === "https:";
  return new Promise((resolve, reject) => {
    const outgoing = (isTls ? https : http).request(
      {
        host: address,
        port: url.port || (isTls ? 443 : 80),
        path: url.pathname + url.search,
        method,
        headers: { ...headers, host: url.host },
        signal,
        // A connection that was kept could lead somewhere that was never checked for this request.
        agent: false,
        ...(isAddress(url.hostname) ? {} : { servername: url.hostname }),
        ...(ca === undefined ? {} : { ca }),
      },
      (incoming) => resolve(received(incoming, () => outgoing.destroy())),
    );
    outgoing.on("upgrade", (_, socket) => {
      socket.destroy();
      reject(new Error("it switches to another protocol, which nobody asked for"));
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function received(incoming: http.IncomingMessage, cancel: () => void): IncomingResponse {
  const headers = Object.entries(incoming.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
  // Of a response that is not read nobody wants to know how it ended.
  incoming.on("error", () => {});
  return { status: incoming.statusCode ?? 0, headers: Object.fromEntries(headers), body: incoming, cancel };
}

/** The proxy connects to the address, and the certificate is verified against the name. */
async function sendThroughProxy(
  { url, address, proxy, method, headers, body, signal }: OutgoingRequest,
  fetch: typeof globalThis.fetch,
  ca: string | undefined,
): Promise<IncomingResponse> {
  const target = new URL(url);
  if (address !== undefined) target.hostname = address.includes(":") ? `[${address}]` : address;
  const controller = new AbortController();
  const response = await fetch(target, {
    method,
    headers: { ...headers, host: url.host },
    body: body ?? null,
    signal: AbortSignal.any([signal, controller.signal]),
    redirect: "manual",
    keepalive: false,
    // What comes out of it is bounded only by our own hands.
    decompress: false,
    ...(proxy && { proxy: proxy.href }),
    tls: {
      ...(isAddress(url.hostname) ? {} : { serverName: url.hostname }),
      ...(ca === undefined ? {} : { ca }),
    },
  } as BunFetchRequestInit & { decompress: boolean });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: response.body ?? empty(),
    cancel: () => controller.abort(),
  };
}

async function* empty(): AsyncGenerator<Uint8Array> {}

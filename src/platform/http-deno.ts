/** HTTP by `Deno.serve`. */

import type { HttpInfo } from "../core/http.ts";
import {
  badRequest,
  failed,
  type HttpListener,
  hasAddress,
  type ListenAddress,
  wantsSocket,
} from "./http-listener.ts";

interface Connection {
  readonly remoteAddr: { readonly hostname?: string };
}

interface ServeOptions {
  readonly hostname?: string;
  readonly port?: number;
  readonly path?: string;
  readonly signal: AbortSignal;
  onListen(): void;
  onError(): Response;
}

/** The little of it that is used here; the repository's types are Bun's. */
declare const Deno: {
  serve(
    options: ServeOptions,
    handler: (request: Request, connection: Connection) => Promise<Response>,
  ): { readonly addr: { readonly port?: number }; readonly finished: Promise<void> };
  upgradeWebSocket(
    request: Request,
    options: { protocol?: string; idleTimeout: number },
  ): { readonly socket: WebSocket; readonly response: Response };
};

/** Deno pings after so long, and gives up when nothing comes back. */
const PING_SECONDS = 20;

export const listen: HttpListener = (address, handler, links) => {
  const end = new AbortController();
  const running = new Set<Promise<Response>>();
  let isDraining = false;

  async function answer(request: Request, { remoteAddr }: Connection): Promise<Response> {
    if (isDraining)
      return new Response("Service Unavailable", { status: 503, headers: { connection: "close" } });
    if (!hasAddress(request)) return badRequest();
    let handshake: Response | undefined;
    const peer = remoteAddr.hostname ?? "";
    const upgrade: HttpInfo["upgrade"] = (socketHandler, { protocol, maxBytes }) => {
      if (handshake !== undefined || !wantsSocket(request)) return undefined;
      const { socket, response } = Deno.upgradeWebSocket(request, {
        ...(protocol === undefined ? {} : { protocol }),
        idleTimeout: PING_SECONDS,
      });
      const wire = {
        send: (text: string) => socket.send(text),
        buffered: () => socket.bufferedAmount,
        close: (code: number, reason: string) => socket.close(code, reason),
      };
      const link = links.add(wire, socketHandler, maxBytes);
      socket.addEventListener("open", () => link.opened());
      socket.addEventListener("message", ({ data }) => link.message(data));
      // What failed is closed next, and that is all a handler wants to know.
      socket.addEventListener("error", () => {});
      socket.addEventListener("close", () => link.closed());
      handshake = response;
      return response;
    };
    const response = await handler(request, { peer, client: peer, upgrade });
    return handshake ?? response;
  }

  const server = Deno.serve(
    { ...whereOf(address), signal: end.signal, onListen() {}, onError: failed },
    (request, connection) => {
      const response = answer(request, connection);
      running.add(response);
      const forget = () => running.delete(response);
      response.then(forget, forget);
      return response;
    },
  );

  return {
    port: server.addr.port ?? 0,
    // Its own `shutdown` throws where nobody can catch it when it is cut short.
    async drain() {
      isDraining = true;
      await Promise.allSettled(running);
    },
    async end() {
      end.abort();
      await server.finished;
    },
  };
};

function whereOf(address: ListenAddress): { path: string } | { hostname: string; port: number } {
  return "path" in address ? { path: address.path } : { hostname: address.host, port: address.port };
}

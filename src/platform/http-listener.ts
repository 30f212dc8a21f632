/** What Bun and Deno do differently about HTTP, and what is the same about a WebSocket in both. */

import { Buffer } from "node:buffer";
import type { HttpHandler, Socket, SocketHandler } from "../core/http.ts";

export type ListenAddress =
  | { readonly host: string; readonly port: number }
  /** Of a socket file, in a form that the system takes. */
  | { readonly path: string };

export interface Listening {
  /** 0 for a socket file. */
  readonly port: number;
  /** Takes no new connections. Resolves when the last answer is out and the last WebSocket is closed. */
  drain(): Promise<void>;
  /** Ends whatever is still there. */
  end(): Promise<void>;
}

/**
 * Throws the system's error when it cannot listen there. A socket file has its mode from the umask. Whatever
 * `handler` throws is answered with 500 and no detail.
 */
export type HttpListener = (address: ListenAddress, handler: HttpHandler, links: SocketLinks) => Listening;

/** The runtime's side of a WebSocket. */
interface Wire {
  send(text: string): void;
  buffered(): number;
  close(code: number, reason: string): void;
}

/** Between the runtime's events and a `SocketHandler`. */
export interface SocketLink {
  opened(): void;
  message(data: unknown): void;
  closed(): void;
}

/** The WebSockets of a server. */
export interface SocketLinks {
  add(wire: Wire, handler: SocketHandler, maxBytes: number): SocketLink;
  closeAll(): void;
}

/** No message larger than this is taken by the runtime, whatever a socket's own limit is. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** Bodies are bounded by whoever reads them, who can say so; this is for those that nobody reads. */
export const MAX_BODY_BYTES = 128 * 1024 * 1024;

const GOING_AWAY = 1001;
const UNSUPPORTED = 1003;
const TOO_BIG = 1009;

export function createSocketLinks(): SocketLinks {
  const sockets = new Set<Socket>();
  return {
    add(wire, handler, maxBytes) {
      let isOpen = true;
      const socket: Socket = {
        send(text) {
          if (isOpen) wire.send(text);
        },
        get buffered() {
          return isOpen ? wire.buffered() : 0;
        },
        close(code, reason) {
          if (!isOpen) return;
          isOpen = false;
          wire.close(code, reason);
        },
      };
      sockets.add(socket);
      return {
        opened: () => handler.open(socket),
        message(data) {
          if (!isOpen) return;
          if (typeof data !== "string") socket.close(UNSUPPORTED, "only text is understood");
          else if (exceeds(data, maxBytes)) socket.close(TOO_BIG, `a message may have ${maxBytes} bytes`);
          else handler.message(socket, data);
        },
        closed() {
          isOpen = false;
          if (sockets.delete(socket)) handler.closed(socket);
        },
      };
    },
    closeAll() {
      for (const socket of sockets) socket.close(GOING_AWAY, "the server ends");
    },
  };
}

function exceeds(text: string, maxBytes: number): boolean {
  // A character takes three bytes at most, so that most messages need no counting.
  return text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes;
}

/** Whether the request asks for a WebSocket at all. */
export function wantsSocket(request: Request): boolean {
  return request.method === "GET" && request.headers.get("upgrade")?.toLowerCase() === "websocket";
}

/** What stands for the answer to an upgrade, which the runtime gives itself. */
export function upgraded(): Response {
  return new Response(null, { status: 101 });
}

/** A request whose `Host` makes no address has none, and nobody could route it. */
export function hasAddress(request: Request): boolean {
  return URL.canParse(request.url);
}

export function badRequest(): Response {
  return new Response("Bad Request", { status: 400 });
}

export function failed(): Response {
  return new Response("Internal Server Error", { status: 500 });
}

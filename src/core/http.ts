/** HTTP as ports: a server whose handler is a plain function, and requests over a socket file. */

/** One end of a WebSocket. */
export interface Socket {
  /** Sends text. Nothing happens when it is closed. */
  send(text: string): void;
  /** Bytes that wait to be sent. */
  readonly buffered: number;
  close(code: number, reason: string): void;
}

/** What happens on a WebSocket. None of them may throw. */
export interface SocketHandler {
  open(socket: Socket): void;
  message(socket: Socket, text: string): void;
  closed(socket: Socket): void;
}

export interface HttpInfo {
  /** The address of whoever connected: of the tunnel, behind one. "" for a socket file. */
  readonly peer: string;
  /** The address of the client, as far as somebody who is trusted says so; else `peer`. Gives no rights. */
  readonly client: string;
  /**
   * Answers a request for a WebSocket and hands the connection to `handler`. `protocol` is the subprotocol that was
   * chosen of those the client offered. Messages over `maxBytes` close the connection. `undefined` when the request is none.
   */
  upgrade(handler: SocketHandler, options: { protocol?: string; maxBytes: number }): Response | undefined;
}

export type HttpHandler = (request: Request, info: HttpInfo) => Promise<Response>;

export interface HttpServer {
  /** The one it listens on; 0 for a socket file. */
  readonly port: number;
  /** Takes no new connections, gives those that run `graceMs`, then ends them. */
  stop(graceMs: number): Promise<void>;
}

export interface HttpServers {
  /**
   * Rejects with a `UserError` when the address is taken or may not be used. With `socketFile` it listens on a file that only its
   * owner can open (0600), in the place of whatever lay there.
   */
  listen(
    where: { readonly host: string; readonly port: number } | { readonly socketFile: string },
    handler: HttpHandler,
  ): Promise<HttpServer>;
  /** A request over a socket file. Resolves to `undefined` when nobody listens there. */
  request(
    socketFile: string,
    request: { readonly path: string; readonly body: string },
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly body: string } | undefined>;
}

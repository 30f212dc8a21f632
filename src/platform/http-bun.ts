/** HTTP by `Bun.serve`. */

import type { HttpHandler, HttpInfo, SocketHandler } from "../core/http.ts";
import {
  badRequest,
  failed,
  type HttpListener,
  hasAddress,
  type ListenAddress,
  MAX_BODY_BYTES,
  MAX_MESSAGE_BYTES,
  type SocketLink,
  type SocketLinks,
  upgraded,
  wantsSocket,
} from "./http-listener.ts";

/** For a connection that has not said yet what it wants. */
const IDLE_SECONDS = 30;
/** For one that waits for our answer, which may take as long as a proxy in front of us waits. Bun's longest. */
const ANSWER_SECONDS = 255;
/** Bun pings after 20 s of silence with this, and gives up 16 s later. Tunnels cut what is silent for 100 s. */
const SOCKET_IDLE_SECONDS = 36;
/** A reader this far behind has to come again. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;

interface SocketData {
  readonly handler: SocketHandler;
  readonly maxBytes: number;
  link?: SocketLink;
}

type Server = Bun.Server<SocketData>;

export const listen: HttpListener = (address, handler, links) => {
  const server: Server = Bun.serve<SocketData>({
    ...whereOf(address),
    development: false,
    // Without this Bun shares the port with whoever listens there already, and each gets some of the requests.
    reusePort: false,
    maxRequestBodySize: MAX_BODY_BYTES,
    fetch: (request, own) => answer(request, own, handler),
    error: failed,
    websocket: socketEvents(links),
  });
  return {
    port: server.port ?? 0,
    drain: () => server.stop(),
    end: () => server.stop(true),
  };
};

function whereOf(address: ListenAddress) {
  if ("host" in address) return { hostname: address.host, port: address.port, idleTimeout: IDLE_SECONDS };
  // Bun takes it for a file too, and only there can it not be changed for one request. The types know neither.
  return { unix: address.path, idleTimeout: 0 } as never;
}

/** Nothing when the connection became a WebSocket. */
async function answer(request: Request, server: Server, handler: HttpHandler): Promise<Response | undefined> {
  server.timeout(request, ANSWER_SECONDS);
  if (!hasAddress(request)) return badRequest();
  let isUpgraded = false;
  const peer = server.requestIP(request)?.address ?? "";
  const upgrade: HttpInfo["upgrade"] = (socketHandler, { protocol, maxBytes }) => {
    if (isUpgraded || !wantsSocket(request)) return undefined;
    isUpgraded = server.upgrade(request, {
      data: { handler: socketHandler, maxBytes },
      headers: protocol === undefined ? {} : { "sec-websocket-protocol": protocol },
    });
    return isUpgraded ? upgraded() : undefined;
  };
  const response = await handler(request, { peer, client: peer, upgrade });
  return isUpgraded ? undefined : response;
}

function socketEvents(links: SocketLinks): Bun.WebSocketHandler<SocketData> {
  return {
    maxPayloadLength: MAX_MESSAGE_BYTES,
    backpressureLimit: MAX_UNSENT_BYTES,
    closeOnBackpressureLimit: true,
    idleTimeout: SOCKET_IDLE_SECONDS,
    sendPings: true,
    open(socket) {
      const { handler, maxBytes } = socket.data;
      const wire = {
        send: (text: string) => void socket.sendText(text),
        buffered: () => socket.getBufferedAmount(),
        close: (code: number, reason: string) => socket.close(code, reason),
      };
      // Known before it is told: a handler that closes at once hears of that while it still runs.
      socket.data.link = links.add(wire, handler, maxBytes);
      socket.data.link.opened();
    },
    message: (socket, data) => socket.data.link?.message(data),
    close: (socket) => socket.data.link?.closed(),
  };
}

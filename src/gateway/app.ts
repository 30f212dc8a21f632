/** The public side of the gateway, as a plain function: health, and the routes of the channels. */

import type { ChannelRoute } from "../core/channel.ts";
import type { HttpHandler, HttpInfo } from "../core/http.ts";
import type { Clock, Log } from "../core/platform.ts";
import { declaredBytes } from "../lib/read-body.ts";
import { clip } from "../lib/text.ts";
import { createClientAddress } from "./client-address.ts";
import { createReadiness, type Readiness } from "./readiness.ts";
import { answer, secured } from "./responses.ts";

/** The routes of one channel. */
export interface ChannelRoutes {
  readonly channel: string;
  readonly routes: readonly ChannelRoute[];
  /** Whether it takes requests: not when it has ended for good. One that is only started again knows best itself. */
  isOpen(): boolean;
}

export interface GatewayAppOptions {
  readonly channels: readonly ChannelRoutes[];
  /** Asked at most once a second. */
  readonly ready: Readiness;
  /** Addresses and networks whose word on who the client is counts. */
  readonly trustedProxies: readonly string[];
  readonly maxBodyBytes: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Of a path in the log. */
const MAX_PATH = 200;
/** Platforms send again what comes in while a channel is away. */
const RETRY = { "retry-after": "5" };

/**
 * Nothing in it is open to some and not to others by where a request comes from: behind a tunnel all come
 * from this machine. The function never rejects. Rejects with a `UserError` for a proxy that is no address.
 */
export async function createGatewayApp(options: GatewayAppOptions): Promise<HttpHandler> {
  const { channels, clock, log, maxBodyBytes, trustedProxies } = options;
  const [{ Hono }, clientAddress] = await Promise.all([import("hono"), createClientAddress(trustedProxies)]);
  const notReady = createReadiness(options);

  const app = new Hono<{ Bindings: { readonly info: HttpInfo } }>();
  app.get("/health", () => Response.json({ status: "ok" }));
  app.get("/ready", async () => {
    const reasons = await notReady();
    if (reasons.length === 0) return Response.json({ status: "ready" });
    return Response.json({ status: "not ready", reasons }, { status: 503 });
  });
  for (const path of ["/health", "/ready"]) app.all(path, () => answer(405, { allow: "GET, HEAD" }));
  for (const { channel, routes, isOpen } of channels) {
    for (const route of routes) {
      app.all(route.isAbsolute ? route.path : `/webhook/${channel}${route.path}`, ({ req, env }) => {
        if (!isOpen()) return answer(503, RETRY);
        if (declaredBytes(req.raw) > maxBodyBytes) return answer(413);
        return route.fetch(req.raw, env.info);
      });
    }
  }
  app.notFound(() => answer(404));
  // It would answer for errors alone, and not for whatever else is thrown.
  app.onError((error) => {
    throw error;
  });

  async function answerTo(request: Request, info: HttpInfo, path: string): Promise<Response> {
    try {
      return await app.fetch(request, { info });
    } catch (error) {
      log.error("A request failed", { method: request.method, path, error });
      return answer(500);
    }
  }

  return async (request, info) => {
    const began = clock.elapsed();
    const client = clientAddress(info.peer, request.headers);
    const path = clip(new URL(request.url).pathname, MAX_PATH);
    const response = await answerTo(request, { ...info, client }, path);
    log.debug("A request was answered", {
      method: request.method,
      path,
      status: response.status,
      ms: Math.round(clock.elapsed() - began),
      client,
    });
    return secured(response);
  };
}

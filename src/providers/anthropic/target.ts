/** Where Anthropic's package would post a request, and with what headers. */

import { lazy } from "../../lib/lazy.ts";
import type { EndpointOptions } from "../wire/endpoint.ts";
import { wantedHeaders } from "../wire/target-headers.ts";
import type { Target } from "../wire/transport.ts";

type Options = Pick<EndpointOptions, "baseUrl" | "apiKey" | "headers" | "extraQuery">;

/**
 * The body is made here and not by the package, so its version is chosen here too. This is the one that
 * every server of the protocol knows; the next took the temperature away from all models.
 */
const VERSION = "2023-06-01";

/** Asking the package costs more than everything else of a call together, so it is asked once. */
export function anthropicTarget(options: Options): () => Promise<Target> {
  return lazy(() => createTarget(options));
}

async function createTarget({ baseUrl, apiKey, headers = {}, extraQuery = {} }: Options): Promise<Target> {
  const { Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic({
    // People give it with the version and without.
    baseURL: baseUrl.replace(/\/+$/, "").replace(/\/v1$/, ""),
    // Without a key the package would look for one in variables and files, and send it to any server.
    apiKey: apiKey ?? "none",
    authToken: null,
    defaultQuery: { ...extraQuery },
    logLevel: "off",
  });
  const own = {
    "User-Agent": "nanobot",
    "Anthropic-Version": VERSION,
    // The vendor prefers the one, some servers of its protocol know only the other.
    "X-Api-Key": apiKey ?? null,
    Authorization: apiKey === undefined ? null : `Bearer ${apiKey}`,
    ...headers,
  };
  const request = await client.buildRequest({ method: "post", path: "/v1/messages", body: {}, headers: own });
  return { url: request.url, init: { method: "POST", headers: wantedHeaders(request.req.headers, own) } };
}

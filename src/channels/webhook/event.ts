/** What an event says of itself, beside its content: its id, its kind, and whether it only tries the connection. */

import { createHash } from "node:crypto";
import { isObject } from "../../lib/is-object.ts";
import type { Scheme } from "./config.ts";

export interface ReceivedEvent {
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly json: unknown;
}

function digest(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** The same for every delivery of the event. `undefined` where its sender gave it none. */
export function eventIdOf(scheme: Scheme, { headers, body, json }: ReceivedEvent): string | undefined {
  const id = givenId(scheme, headers, json);
  if (id) return /^[\x21-\x7e]{1,128}$/.test(id) ? id : `sha256-${digest(id)}`;
  if (scheme === "github") return `sha256-${digest(body)}`;
  // The signature covers both, so that nobody can make two events of one.
  if (scheme === "slack")
    return `sha256-${digest(headers.get("x-slack-request-timestamp") ?? "", ":", body)}`;
  return undefined;
}

function givenId(scheme: Scheme, headers: Headers, json: unknown): string | null | undefined {
  switch (scheme) {
    case "bearer":
      return headers.get("idempotency-key");
    case "standard":
      return headers.get("webhook-id");
    case "github":
      return headers.get("x-github-delivery");
    case "slack": {
      const id = isObject(json) ? json["event_id"] : undefined;
      return typeof id === "string" ? id : undefined;
    }
  }
}

/** What GitHub calls events like this one, which is not in the body. Only a plain word is taken. */
export function kindOf(scheme: Scheme, headers: Headers): string | undefined {
  const kind = scheme === "github" ? headers.get("x-github-event") : null;
  return kind !== null && /^[a-z_]{1,64}$/.test(kind) ? kind : undefined;
}

/** The answer to a request that only tries whether somebody is there. */
export function handshake(scheme: Scheme, { headers, json }: ReceivedEvent): Response | undefined {
  if (scheme === "github" && headers.get("x-github-event") === "ping") {
    return Response.json({ status: "pong" });
  }
  if (scheme !== "slack" || !isObject(json) || json["type"] !== "url_verification") return undefined;
  const { challenge } = json;
  if (typeof challenge !== "string" || challenge.length > 1_000) return undefined;
  return new Response(challenge, { headers: { "content-type": "text/plain; charset=utf-8" } });
}

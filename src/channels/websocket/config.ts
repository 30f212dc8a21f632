/** What the websocket channel is told. */

import * as v from "valibot";

export const SHORTEST_TOKEN = 16;
export const EVERY_ORIGIN = "*";

const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

/** The original's key, without effect here: the gateway listens, and the token is the permission. */
const ignored = v.optional(v.pipe(v.unknown(), v.description("Kept for the original, without effect")));

/** As browsers write one: scheme, host and port, where it is not the usual one, and nothing behind. */
function isOrigin(text: string): boolean {
  if (text === EVERY_ORIGIN || text.includes("${")) return true;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#*]+$/.test(text)) return false;
  const url = URL.parse(text);
  // Apps have schemes of their own, of which `URL` knows no origin.
  return url !== null && (url.origin === text || (url.origin === "null" && url.href === text));
}

const origin = v.pipe(
  v.string(),
  v.check(isOrigin, 'an origin such as "https://example.com", or "*" for every one'),
);

export const config = v.object({
  // None is no wrong type: the original has an empty one from the start. Only the channel cannot do without.
  token: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => text === "" || text.includes("${") || text.length >= SHORTEST_TOKEN,
        `a token of ${SHORTEST_TOKEN} characters or more`,
      ),
      v.description("What a client proves to know. It may then do all that the owner may"),
    ),
    "",
  ),
  allowedOrigins: v.optional(
    v.pipe(
      v.array(origin),
      v.description(
        "Pages that may connect, by origin. Programs that are no browsers name none, and need none",
      ),
    ),
    [],
  ),
  maxMessageBytes: v.optional(
    v.pipe(whole(1_024, 64 * 1024 * 1024), v.description("The largest message of a client")),
    1024 * 1024,
  ),
  streaming: v.optional(v.pipe(v.boolean(), v.description("Whether clients see the text as it grows")), true),
  maxClients: v.optional(
    v.pipe(whole(1, 10_000), v.description("How many clients may be connected at once")),
    100,
  ),
  keepMessages: v.optional(
    v.pipe(
      whole(1, 100_000),
      v.description("How many messages of a chat are kept for clients that come back"),
    ),
    1_000,
  ),
  keepSeconds: v.optional(
    v.pipe(whole(60, 365 * 24 * 60 * 60), v.description("And for how long")),
    7 * 24 * 60 * 60,
  ),
  host: ignored,
  path: ignored,
  pingIntervalS: ignored,
  pingTimeoutS: ignored,
  port: ignored,
  publicWsUrl: ignored,
  sslCertfile: ignored,
  sslKeyfile: ignored,
  tokenIssuePath: ignored,
  tokenIssueSecret: ignored,
  tokenTtlS: ignored,
  trustedProxyAuth: ignored,
  unixSocketPath: ignored,
  websocketRequiresToken: ignored,
});

export type WebsocketConfig = v.InferOutput<typeof config>;

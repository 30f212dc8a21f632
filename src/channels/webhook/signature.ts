/** How a hook knows its callers, and how its answers are known: by the same scheme. */

import { Buffer } from "node:buffer";
import {
  type SignedRequest,
  signGithub,
  signSlack,
  signStandardWebhooks,
  type Verdict,
  verifyBearer,
  verifyGithub,
  verifySlack,
  verifyStandardWebhooks,
} from "../../lib/signatures.ts";
import type { Scheme } from "./config.ts";

export function verify(
  scheme: Scheme,
  request: SignedRequest,
  { secret, now }: { readonly secret: string; readonly now: number },
): Verdict {
  switch (scheme) {
    case "bearer":
      return verifyBearer(request.headers, secret);
    case "standard":
      return verifyStandardWebhooks(request, { secret, now });
    case "github":
      return verifyGithub(request, { secret });
    case "slack":
      return verifySlack(request, { secret, now });
  }
}

/** The headers that go with `body`. */
export function sign(
  scheme: Scheme,
  body: string,
  { id, secret, now }: { readonly id: string; readonly secret: string; readonly now: number },
): Readonly<Record<string, string>> {
  const bytes = Buffer.from(body);
  switch (scheme) {
    case "bearer":
      return { authorization: `Bearer ${secret}` };
    case "standard":
      return signStandardWebhooks(bytes, { id, secret, now });
    case "github":
      return signGithub(bytes, { secret });
    case "slack":
      return signSlack(bytes, { secret, now });
  }
}

/** Tells servers that do not speak the Responses protocol at all from those that refuse one request. */

import type { Refusal } from "../wire/errors.ts";
import { tellingPart } from "../wire/refusal-text.ts";

const UNKNOWN_ADDRESS =
  /(unknown|invalid|unrecognized|unexpected)( request)? (url|endpoint|path|route)\b.{0,80}(\/responses|\bpost\b)/i;
const UNSUPPORTED_API =
  /(not support(ed)?|unsupported|not available|unavailable|not enabled|does not work)[^.]{0,80}responses (api|endpoint|operation)|responses (api|endpoint|operation)[^.]{0,80}(\bnot\b|unsupported|unavailable|only)/i;
/** A refusal that names one of these comes from a server that understood the request. */
const MISSING_THING = /model|deployment|\bitem\b/i;

/** Whether this server, or this model, is to be asked by another protocol. */
export function speaksNoResponses({ status, body }: Refusal): boolean {
  const text = tellingPart(body);
  if (status === 405) return true;
  if (status === 404) return text.trimStart().startsWith("<") || !MISSING_THING.test(text);
  if (status !== undefined && status !== 400 && status !== 422) return false;
  return UNKNOWN_ADDRESS.test(text) || UNSUPPORTED_API.test(text);
}

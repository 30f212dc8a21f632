/** Errors that a Responses server tells of inside its reply, as refusals with the status they would have had. */

import { isObject } from "../../lib/is-object.ts";
import { BadReply, Refusal } from "../wire/model-failure.ts";
import { textOf } from "./parts.ts";

/** By the error's code, or its type; the first that fits. Others are taken for trouble on the server's side. */
const STATUSES: readonly (readonly [RegExp, number])[] = [
  [/rate_limit|too_many_requests|insufficient_quota|usage_limit/, 429],
  [/overloaded|slow_down|unavailable/, 503],
  [/timeout/, 504],
  [/server_error|internal/, 500],
  [/authentication|api_key/, 401],
  [/permission/, 403],
  [
    /^(invalid|image|unsupported|missing|unknown_parameter|empty_image|context_length|string_above|data_residency)|download_image/,
    400,
  ],
  [/not_found/, 404],
];

export function refusalOf(error: unknown): Refusal | BadReply {
  const fields = isObject(error) ? error : { message: error };
  const { code, type, message } = fields;
  if (/policy/.test(textOf(code))) {
    return new BadReply("stopped its reply because of its content policy", { kind: "contentFilter" });
  }
  const number = Number(code ?? fields["status"]);
  const isStatus = Number.isInteger(number) && number >= 400 && number <= 599;
  const status = isStatus ? number : (statusOf(textOf(code)) ?? statusOf(textOf(type)));
  const headers = retryHint(textOf(message));
  return new Refusal({
    ...(status === undefined ? {} : { status }),
    ...(headers === undefined ? {} : { headers }),
    body: JSON.stringify({ error: fields }),
  });
}

function statusOf(name: string): number | undefined {
  return STATUSES.find(([says]) => says.test(name))?.[1];
}

/** A stream has no headers left to say when to come again, so the sentence does. */
function retryHint(message: string): Headers | undefined {
  const [, amount, unit] = /try again in (\d+(?:\.\d+)?) ?(ms|s)\b/i.exec(message) ?? [];
  if (amount === undefined) return undefined;
  return new Headers({ "retry-after-ms": String(Number(amount) * (unit?.toLowerCase() === "s" ? 1000 : 1)) });
}

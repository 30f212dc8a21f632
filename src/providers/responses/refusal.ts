/** Errors that a Responses server tells of inside its reply, as refusals with the status they would have had. */

import type { BadReply, Refusal } from "../wire/errors.ts";
import { type Fields, fieldsOf, textOf } from "../wire/fields.ts";
import { contentFiltered, refusalIn } from "../wire/reply-failures.ts";

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
  if (/policy/.test(textOf(fieldsOf(error)["code"]))) return contentFiltered();
  return refusalIn(error, statusIn);
}

function statusIn({ code, type }: Fields): number | undefined {
  return statusOf(textOf(code)) ?? statusOf(textOf(type));
}

function statusOf(name: string): number | undefined {
  return STATUSES.find(([says]) => says.test(name))?.[1];
}

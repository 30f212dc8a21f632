/** What can be wrong with a reply: bounds it breaks, and failures that its server tells of inside it. */

import { isObject } from "../../lib/is-object.ts";
import { jsonOf } from "../../lib/lenient-json.ts";
import { BadReply, Refusal } from "./errors.ts";
import { type Fields, textOf } from "./fields.ts";

/** More than any sensible reply consists of. */
const MOST_PARTS = 256;

/** Throws where a reply that holds `held` of these already begins another. */
export function checkRoom(held: number, what: string): void {
  if (held >= MOST_PARTS) throw new BadReply(`sent more than ${MOST_PARTS} ${what} in one reply`);
}

export function contentFiltered(): BadReply {
  return new BadReply("stopped its reply because of its content filter", { kind: "contentFilter" });
}

/** The refusal with the status it would have had: its code, or what `statusOf` makes of its names. */
export function refusalIn(
  error: unknown,
  statusOf: (error: Fields) => number | undefined = () => undefined,
): Refusal {
  const fields = isObject(error) ? error : { message: error };
  const status = [fields["code"], fields["status"]].map(Number).find(isStatus) ?? statusOf(fields);
  const headers = retryHint(textOf(fields["message"]));
  return new Refusal({
    ...(status === undefined ? {} : { status }),
    ...(headers === undefined ? {} : { headers }),
    // What is nested too deeply to be written says nothing to anybody.
    body: jsonOf({ error }) ?? "",
  });
}

function isStatus(code: number): boolean {
  return Number.isInteger(code) && code >= 400 && code <= 599;
}

/** When to come again, as the sentence says. */
function retryHint(message: string): Headers | undefined {
  const [, amount, unit] = /try again in (\d{1,9}(?:\.\d{1,9})?) ?(ms|s)\b/i.exec(message) ?? [];
  if (amount === undefined) return undefined;
  return new Headers({ "retry-after-ms": String(Number(amount) * (unit?.toLowerCase() === "s" ? 1000 : 1)) });
}

/** Whether a setting names a time zone, before and after its variables are expanded. */

import { UserError } from "../core/errors.ts";
import { isTimeZone } from "../lib/zoned-time.ts";

export const TIME_ZONE = "the name of a time zone, as in Europe/Berlin";

/** For agents.defaults.timezone once it is expanded: the schema lets a variable pass unseen. Throws a `UserError`. */
export function checkTimeZone(value: string): void {
  if (!isTimeZone(value)) {
    throw new UserError(
      `Read settings: agents.defaults.timezone: expected ${TIME_ZONE}, found another string`,
    );
  }
}

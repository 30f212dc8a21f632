/** Whether a setting names a time zone, before and after its variables are expanded. */

import { UserError } from "../core/errors.ts";

export const TIME_ZONE = "the name of a time zone, as in Europe/Berlin";

export function isTimeZone(value: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: value });
    return true;
  } catch {
    // A RangeError is how Intl says that it does not know the zone.
    return false;
  }
}

/** For agents.defaults.timezone once it is expanded: the schema lets a variable pass unseen. Throws a `UserError`. */
export function checkTimeZone(value: string): void {
  if (!isTimeZone(value)) {
    throw new UserError(
      `Read settings: agents.defaults.timezone: expected ${TIME_ZONE}, found another string`,
    );
  }
}

/** The days of the calendar as a time zone has them. */

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
/** No zone is farther from UTC. */
const FARTHEST_MINUTES = 15 * 60;

/** A function from a time to its day, as in `2026-11-30`. Fast for times that are near each other. */
export function createDayOf(timeZone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("en-u-ca-gregory-nu-latn", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  // Today every zone is a whole number of these off UTC, so within one no day begins.
  let lastQuarter: number | undefined;
  let lastDay = "";
  return (ms) => {
    const quarter = Math.floor(ms / QUARTER_MS);
    if (quarter !== lastQuarter) {
      const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
      lastDay = `${parts["year"]?.padStart(4, "0")}-${parts["month"]}-${parts["day"]}`;
      lastQuarter = quarter;
    }
    return lastDay;
  };
}

/**
 * The first minute of a day since 1970 that is written as `2026-11-30`; `undefined` for anything else.
 * Not every day begins at midnight, so it is searched for.
 */
export function startOfDay(day: string, timeZone: string): number | undefined {
  const utc = /^(?:19[7-9]\d|[2-9]\d{3})-\d{2}-\d{2}$/.test(day)
    ? Date.parse(`${day}T00:00:00Z`)
    : Number.NaN;
  // Some engines turn the 30th of February into a day of March.
  if (Number.isNaN(utc) || new Date(utc).toISOString().slice(0, 10) !== day) return undefined;
  const dayOf = createDayOf(timeZone);
  let before = utc / MINUTE_MS - FARTHEST_MINUTES;
  let from = utc / MINUTE_MS + FARTHEST_MINUTES;
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (dayOf(middle * MINUTE_MS) < day) before = middle;
    else from = middle;
  }
  return from * MINUTE_MS;
}

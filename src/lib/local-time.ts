/** Times as the clock of a time zone shows them, to the minute. Formats are costly to make and cheap to use. */

/** A function from milliseconds since the epoch to a time as in `2026-11-30 09:00`. */
export function createTimeOf(timeZone: string): (ms: number) => string {
  // Swedish writes dates as ISO 8601 does.
  const time = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" });
  return (ms) => time.format(ms);
}

/** For models: as in `2026-11-30 09:00 (Monday, Europe/Vienna)`. */
export function createTimeInWords(timeZone: string): (ms: number) => string {
  const timeOf = createTimeOf(timeZone);
  const weekday = new Intl.DateTimeFormat("en", { timeZone, weekday: "long" });
  return (ms) => `${timeOf(ms)} (${weekday.format(ms)}, ${timeZone})`;
}

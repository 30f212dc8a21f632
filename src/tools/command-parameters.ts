/** Parameters that the tools for commands share. */

import * as v from "valibot";

export const whole = (about: string, least: number, most: number) =>
  v.optional(v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most), v.description(about)));

export const maxOutputChars = whole(
  "Show at most this many characters, 1000 to 50000; the middle of the output is left out",
  1_000,
  50_000,
);

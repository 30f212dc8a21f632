/** The kinds of optional parameters that tools have in common. */

import * as v from "valibot";

/** A whole number; without `most` it has no upper bound. */
export function whole(about: string, least: number, most?: number) {
  return v.optional(
    most === undefined
      ? v.pipe(v.number(), v.integer(), v.minValue(least), v.description(about))
      : v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most), v.description(about)),
  );
}

export const flag = (about: string) => v.optional(v.pipe(v.boolean(), v.description(about)));

export const text = (about: string) => v.optional(v.pipe(v.string(), v.description(about)));

export const maxOutputChars = whole(
  "Show at most this many characters, 1000 to 50000; the middle of the output is left out",
  1_000,
  50_000,
);

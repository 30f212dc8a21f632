/** How a place, which may be a pattern of names, lies to a folder. */

import { isInside } from "../../lib/inside.ts";
import { foldPath } from "../../lib/own-places.ts";
import { isPattern, segmentMatches } from "./file-patterns.ts";
import type { Place } from "./scene.ts";

/** A pattern that can step out of its folder. */
export function climbs({ pattern }: Place, dotted: boolean): boolean {
  return pattern.some(
    (segment, index) =>
      segment === ".." ||
      (index < pattern.length - 1 && isPattern(segment) && segmentMatches(segment, "..", dotted)),
  );
}

type Overlap = "apart" | "within" | "around";

/** Within it, or around it, as a pattern or a parent folder can be. */
export function overlap(place: Place, folder: string, dotted: boolean): Overlap {
  const [path, other] = [foldPath(place.path), foldPath(folder)];
  if (isInside(other, path)) return "within";
  if (!isInside(path, other)) return "apart";
  const below = other.slice(path.length).split("/").filter(Boolean);
  for (const [index, segment] of place.pattern.entries()) {
    const name = below[index];
    if (name === undefined) return "within";
    // Hidden folders are not gone into.
    if (segment === "**")
      return dotted || !below.slice(index).some((one) => one.startsWith(".")) ? "within" : "apart";
    if (!segmentMatches(foldPath(segment), name, dotted)) return "apart";
  }
  return place.pattern.length >= below.length ? "within" : "around";
}

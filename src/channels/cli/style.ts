/** The few looks the terminal has, and cutting by cells. */

import { graphemes } from "./graphemes.ts";

export function dim(text: string, color: boolean): string {
  return color ? `\x1b[2m${text}\x1b[22m` : text;
}

export function red(text: string, color: boolean): string {
  return color ? `\x1b[31m${text}\x1b[39m` : text;
}

/** The beginning of `text` that fits `cells`; what was cut shows as an ellipsis. */
export function clipCells(text: string, cells: number, width: (text: string) => number): string {
  if (width(text) <= cells) return text;
  let kept = "";
  let used = 1;
  for (const grapheme of graphemes(text)) {
    used += width(grapheme);
    if (used > cells) break;
    kept += grapheme;
  }
  return cells > 0 ? `${kept}…` : "";
}

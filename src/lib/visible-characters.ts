/** Takes out of text from outside the characters that nobody sees, in which instructions can be hidden. */

import { stripControls } from "./text.ts";

// Zero-width spaces, marks of direction, tags, what belongs to nobody, selectors that no font knows, and blanks
// that count as letters.
const UNSEEN =
  /(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cf}\p{Co}\p{Variation_Selector}]|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0/gu;
// Joiners have a meaning between letters of scripts that are written joined, and within one picture.
const LOOSE_JOINER =
  /(?<![\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{Extended_Pictographic}])/gu;
// So has a choice between a picture and a letter, behind what can be both.
const LOOSE_SELECTOR = /(?<![\p{Extended_Pictographic}\d#*])[\ufe0e\ufe0f]/gu;

/** The rest stays as it was, but for line ends of other systems and pages, which become LF. */
export function stripInvisible(text: string): string {
  if (/^[\x09\x0a\x20-\x7e]*$/.test(text)) return text;
  return stripControls(text.replace(/\r\n?|[\v\f\x85]/g, "\n"))
    .replace(UNSEEN, "")
    .replace(LOOSE_JOINER, "")
    .replace(LOOSE_SELECTOR, "");
}

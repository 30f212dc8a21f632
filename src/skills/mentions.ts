/** Finds the skills that a message names with `$name`. */

import { after, plain } from "../lib/split/structure.ts";

/** Not behind a word, another `$`, a backslash or a slash. Some writings put no spaces between words. */
const SIGN =
  /(?<![[\p{L}\p{N}_$\\\/]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]])\$(?=[\p{L}\p{N}])/gv;

/** What goes on with a word: a letter of writings that put spaces between them, or what joins two. */
const GOES_ON =
  /^(?:[[\p{L}\p{N}\p{M}_]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]|[\-.\/][\p{L}\p{N}_])/v;
/** As many characters as that may look at. */
const LOOKED_AHEAD = 3;

/** Variables of the shell, its arguments, and sums of money. */
const NOT_A_SKILL = /^[A-Z\d_]+$/;

/** Signs beyond so many of a message are none of ours. */
const MOST_SIGNS = 1_000;

/** At most `most` of `names`, in the order in which `message` names them. Of two that fit, the longer. */
export function mentioned(message: string, names: Iterable<string>, most: number): readonly string[] {
  const usable = new Set([...names].filter((name) => !NOT_A_SKILL.test(name)));
  const longest = Math.max(0, ...[...usable].map((name) => name.length));
  const found = new Set<string>();
  let signs = 0;
  const prose = withoutCode(message);
  for (const { index } of prose.matchAll(SIGN)) {
    const from = index + 1;
    const name = nameAt(prose.slice(from, from + longest + LOOKED_AHEAD), usable, longest);
    if (name !== undefined) found.add(name);
    if (found.size === most || ++signs === MOST_SIGNS) break;
  }
  return [...found];
}

function nameAt(text: string, names: ReadonlySet<string>, longest: number): string | undefined {
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const name = text.slice(0, length);
    if (names.has(name) && !GOES_ON.test(text.slice(length))) return name;
  }
  return undefined;
}

/** In a block of code such a sign begins a variable. */
function withoutCode(message: string): string {
  if (!/```|~~~/.test(message)) return message;
  let structure = plain;
  return message
    .split("\n")
    .map((line) => {
      const before = structure;
      structure = after(line, before);
      return before.fence === undefined && structure.fence === undefined ? line : "";
    })
    .join("\n");
}

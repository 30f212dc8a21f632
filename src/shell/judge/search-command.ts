/** What find and fd run for the files that they come upon. */

import { type Found, foundCommand } from "./found.ts";
import { dynamicWord, staticText, type Word } from "./word.ts";

export function foundByFind(args: readonly Word[]): readonly Found[] {
  const results: Found[] = [];
  for (let at = 0; at < args.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(staticText(args[at]) ?? "")) continue;
    const end = args.findIndex((word, index) => index > at && /^[;+]$/.test(staticText(word) ?? ""));
    const inner = args.slice(at + 1, end < 0 ? undefined : end);
    results.push(...foundCommand("find", inner.map(withFoundPath)));
    if (end < 0) break;
    at = end;
  }
  return results;
}

/** `{}` is the path of a file that find came upon; it begins with where find was told to look. */
function withFoundPath(word: Word): Word {
  return staticText(word)?.includes("{}") === true ? dynamicWord("the files that find comes upon") : word;
}

export function afterFlag(via: string, args: readonly Word[], flags: readonly string[]): readonly Found[] {
  const at = args.findIndex((word) => flags.includes(staticText(word) ?? ""));
  if (at < 0) return [];
  const inner = args.slice(at + 1).map(withFoundPath);
  const placed = inner.some((word) => staticText(word) === undefined);
  return foundCommand(via, placed ? inner : [...inner, dynamicWord(`the files that ${via} comes upon`)]);
}

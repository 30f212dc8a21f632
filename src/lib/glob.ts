/** Glob patterns over paths below a folder, as ripgrep and gitignore files have them. Paths have `/` between segments. */

import { UserError } from "../core/errors.ts";
import { quote } from "./file-error.ts";
import { basename } from "./path.ts";
import { createLineMatcher } from "./regex/automaton.ts";
import { parsePattern } from "./regex/parse.ts";

const LONGEST_GLOB = 1_000;
const ANYTHING = "(?:[^/]|/)*";

/** `*` and `?` stay inside a segment, `**` goes through folders; `[a-z]`, `{a,b}`, and `\` before what is meant literally. */
function patternOf(glob: string): string {
  let pattern = "";
  let braces = 0;
  for (let at = 0; at < glob.length; ) {
    const rest = glob.slice(at);
    const isAtSegmentStart = at === 0 || /[/{,]/.test(glob.charAt(at - 1));
    const [token, translated] = (isAtSegmentStart && translateDeep(rest)) || translateSimple(rest, braces);
    if (token === "{") braces++;
    if (token === "}" && braces > 0) braces--;
    pattern += translated;
    at += token.length;
  }
  return `^${pattern}${")".repeat(braces)}$`;
}

function translateDeep(rest: string): [token: string, pattern: string] | undefined {
  const token = /^(\*\*\/)+|^\*\*$/.exec(rest)?.[0];
  if (token === undefined) return undefined;
  return [token, token === "**" ? ANYTHING : `(?:${ANYTHING}/)?`];
}

function translateSimple(rest: string, braces: number): [token: string, pattern: string] {
  const stars = /^\*+/.exec(rest)?.[0];
  if (stars !== undefined) return [stars, "[^/]*"];
  const set = /^\[(!|\^)?(\]?(?:\\.|[^\]\\])*)\]/su.exec(rest);
  if (set !== null && (set[2] ?? "") !== "") {
    const inside = (set[2] ?? "").replace(/^\]|\[|\\?[&~^]/g, (special) => `\\${special.at(-1)}`);
    return [set[0], set[1] === undefined ? `[${inside}]` : `[^${inside}/]`];
  }
  const character = /^\\?./su.exec(rest)?.[0] ?? rest;
  if (character === "?") return [character, "[^/]"];
  if (character === "{") return [character, "(?:"];
  if (character === "}" && braces > 0) return [character, ")"];
  if (character === "," && braces > 0) return [character, "|"];
  return [
    character,
    escaped(character.length > 1 && character.startsWith("\\") ? character.slice(1) : character),
  ];
}

function escaped(character: string): string {
  return /[\p{L}\p{N}/]/u.test(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/**
 * Whether a path below the folder that is searched is meant. A glob without a slash is about the last
 * segment, wherever that is; one that begins with `!` means all others. Throws a `UserError` for what can
 * match nothing.
 */
export function createGlob(glob: string): (path: string) => boolean {
  const isNegated = glob.startsWith("!");
  const wanted = glob
    .slice(isNegated ? 1 : 0)
    .replace(/^(\.\/)+|^\//, "")
    .replace(/\/$/, "/**");
  const refused = `Cannot use the glob ${quote(glob)}`;
  if (wanted === "") throw new UserError(`${refused}: it is empty; "**" means everything`);
  if (wanted.length > LONGEST_GLOB)
    throw new UserError(`${refused}: it is longer than ${LONGEST_GLOB} characters`);
  if (wanted.split("/").includes("..")) {
    throw new UserError(`${refused}: it is about what is below the folder; name another folder with path`);
  }
  const matcher = createLineMatcher(parsePattern(patternOf(wanted), { ignoreCase: false }));
  const isAboutNames = !wanted.includes("/") && wanted !== "**";
  return (path) => {
    // The matcher goes by lines, and a name may have any character.
    const line = (isAboutNames ? basename(path) : path).replace(/[\r\n]/g, " ");
    return matcher.matches(line) !== isNegated;
  };
}

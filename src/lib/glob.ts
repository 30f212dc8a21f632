/** Glob patterns over paths below a folder, as ripgrep and gitignore files have them. Paths have `/` between segments. */

import { UserError } from "../core/errors.ts";
import { quote } from "./file-error.ts";
import { basename } from "./path.ts";
import { createLineMatcher } from "./regex/automaton.ts";
import { parsePattern } from "./regex/parse.ts";

const LONGEST_GLOB = 1_000;
const ANYTHING = "(?:[^/]|/)*";

/**
 * `*` and `?` stay inside a segment, `**` goes through folders; `[a-z]`, `{a,b}`, and `\` before what is meant
 * literally. The bracket alone when it is not closed.
 */
function patternOf(glob: string): string | { readonly unclosed: string } {
  let pattern = "";
  let braces = 0;
  for (let at = 0; at < glob.length; ) {
    const rest = glob.slice(at);
    const isAtSegmentStart = at === 0 || /[/{,]/.test(glob.charAt(at - 1));
    const [token, translated] = (isAtSegmentStart && translateDeep(rest)) || translateSimple(rest, braces);
    if (token === "[") return { unclosed: token };
    if (token === "{") braces++;
    if (token === "}" && braces > 0) braces--;
    pattern += translated;
    at += token.length;
  }
  return braces > 0 ? { unclosed: "{" } : `^${pattern}$`;
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

/** The folders above it, the highest first. */
function* foldersAbove(path: string): Generator<string> {
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) yield path.slice(0, at);
}

/**
 * Whether a path below the folder that is searched is meant. A glob without a slash, but for one at its end,
 * is about one segment, wherever that is; with a slash at its end it means what is in such a folder. One that
 * begins with `!` means all but what it names and what is below that. Throws a `UserError` for what can match
 * nothing.
 */
export function createGlob(glob: string): (path: string) => boolean {
  const isNegated = glob.startsWith("!");
  const given = glob.slice(isNegated ? 1 : 0);
  const isForFolder = given.endsWith("/");
  const wanted = given.replace(/^(\.\/)+|^\//, "").replace(/\/$/, "");
  const refused = `Cannot use the glob ${quote(glob)}`;
  if (wanted === "") throw new UserError(`${refused}: it is empty; "**" means everything`);
  if (wanted.length > LONGEST_GLOB)
    throw new UserError(`${refused}: it is longer than ${LONGEST_GLOB} characters`);
  if (wanted.split("/").includes("..")) {
    throw new UserError(`${refused}: it is about what is below the folder; name another folder with path`);
  }
  const pattern = patternOf(wanted);
  if (typeof pattern !== "string") {
    throw new UserError(
      `${refused}: its ${quote(pattern.unclosed)} is not closed; put a backslash before what is meant literally`,
    );
  }
  // Nobody wrote the pattern that is made of it, and an error must not speak of one.
  const named = { name: `the glob ${quote(glob)}`, hint: "Put a backslash before what is meant literally" };
  const matcher = createLineMatcher(parsePattern(pattern, { ignoreCase: false, ...named }));
  const isAboutNames = !/^\.?\//.test(given) && !wanted.includes("/") && wanted !== "**";
  const isNamed = (path: string) =>
    // The matcher goes by lines, and a name may have any character.
    matcher.matches((isAboutNames ? basename(path) : path).replace(/[\r\n]/g, " "));
  const isBelow = (path: string) => foldersAbove(path).some(isNamed);
  if (isNegated) return (path) => !(isBelow(path) || (!isForFolder && isNamed(path)));
  return isForFolder ? isBelow : isNamed;
}

/** Reads a regular expression, in the dialect of ripgrep, into a tree. What needs backtracking is refused. */

import { UserError } from "../../core/errors.ts";
import { quote } from "../file-error.ts";
import { createSetReader, escapeOf, type SetReader, setOf } from "./sets.ts";

/** One character out of a set. `source` is a character class as the `v` flag of the runtime takes it. */
export interface CharacterSet {
  readonly source: string;
  readonly ignoreCase: boolean;
}

export type Assertion = "start" | "end" | "boundary" | "noBoundary";

export type Node =
  /** `only` is the character, where the set holds one and no other. */
  | { readonly type: "set"; readonly set: CharacterSet; readonly only: string | undefined }
  | { readonly type: "assertion"; readonly is: Assertion }
  | { readonly type: "sequence"; readonly parts: readonly Node[] }
  | { readonly type: "choice"; readonly branches: readonly Node[] }
  | { readonly type: "repeat"; readonly part: Node; readonly least: number; readonly most: number };

const LONGEST_PATTERN = 4_000;
const DEEPEST = 100;
const MOST_REPEATS = 1_000;

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  A: "start",
  b: "boundary",
  B: "noBoundary",
  z: "end",
  Z: "end",
};

const LITERALLY = "To search for the text as it is, set fixed_strings to true";

interface PatternOptions {
  readonly ignoreCase: boolean;
  /** How errors speak of it (as the pattern, in quotes), and what they advise where they know nothing better. */
  readonly name?: string;
  readonly hint?: string;
}

/** Throws a `UserError` that says what is wrong and where. */
export function parsePattern(
  pattern: string,
  { ignoreCase, name = `the pattern ${quote(pattern)}`, hint: usualHint = LITERALLY }: PatternOptions,
): Node {
  const refuse = (why: string, hint = usualHint) => new UserError(`Cannot use ${name}: ${why}`, { hint });
  if (pattern === "") throw refuse("it is empty", "Name something to search for");
  if (pattern.length > LONGEST_PATTERN)
    throw refuse(`it is longer than ${LONGEST_PATTERN} characters`, "Use a shorter one");
  return parseChoices(createSetReader(pattern, refuse), ignoreCase);
}

/** The tree of a text that stands for itself. */
export function literalNode(text: string, { ignoreCase }: { ignoreCase: boolean }): Node {
  return { type: "sequence", parts: Array.from(text, (character) => literal(character, ignoreCase)) };
}

function literal(character: string, ignoreCase: boolean): Node {
  return { type: "set", set: { source: setOf(character), ignoreCase }, only: character };
}

function parseChoices(reader: SetReader, ignoreCase: boolean): Node {
  const tree = parseGroup(reader, ignoreCase, 0);
  if (!reader.isAtEnd())
    throw reader.refuse(`the ")" at ${reader.position()} closes nothing; escape it as \\)`);
  return tree;
}

/** Up to the end, or to the parenthesis that closes the group, which is left for the caller. */
function parseGroup(reader: SetReader, ignoreCase: boolean, depth: number): Node {
  if (depth > DEEPEST) throw reader.refuse("its groups are nested too deeply");
  const branches: Node[] = [];
  let parts: Node[] = [];
  let isCaseIgnored = ignoreCase;
  while (!reader.isAtEnd() && reader.peek() !== ")") {
    if (reader.take("|")) {
      branches.push({ type: "sequence", parts });
      parts = [];
      continue;
    }
    // `(?i)` holds to the end of the group it stands in.
    const flags = reader.takeMatch(/^\(\?([a-zA-Z-]+)\)/)?.[1];
    if (flags !== undefined) {
      isCaseIgnored = withFlags(flags, isCaseIgnored, reader);
      continue;
    }
    parts.push(parseRepeats(parseAtom(reader, isCaseIgnored, depth), reader));
  }
  branches.push({ type: "sequence", parts });
  const [only, ...others] = branches;
  return only !== undefined && others.length === 0 ? only : { type: "choice", branches };
}

function withFlags(flags: string, ignoreCase: boolean, reader: SetReader): boolean {
  const [on = "", off = ""] = flags.split("-");
  // Lines are matched one at a time, so that `m` and `s` change nothing. Laziness does not matter either.
  if (/[^imsuU]/.test(on + off)) throw reader.refuse(`"(?${flags})" is not supported, only (?i) is`);
  return off.includes("i") ? false : ignoreCase || on.includes("i");
}

function parseAtom(reader: SetReader, ignoreCase: boolean, depth: number): Node {
  const at = reader.position();
  const character = reader.next();
  if (character === "(") return parseParenthesis(reader, ignoreCase, depth, at);
  if (character === "^") return { type: "assertion", is: "start" };
  if (character === "$") return { type: "assertion", is: "end" };
  if (character === ".")
    return { type: "set", set: { source: "[^\\n]", ignoreCase: false }, only: undefined };
  if (character === "[")
    return { type: "set", set: { source: reader.readClass(), ignoreCase }, only: undefined };
  if ("*+?".includes(character))
    throw reader.refuse(`the "${character}" at ${at} repeats nothing; escape it as \\${character}`);
  if (character !== "\\") return literalOf(reader, character, ignoreCase);

  const assertion = ASSERTIONS[reader.peek()];
  if (assertion !== undefined) {
    reader.next();
    return { type: "assertion", is: assertion };
  }
  const escaped = escapeOf(reader);
  if (escaped.type === "character") return literalOf(reader, escaped.character, ignoreCase);
  return { type: "set", set: { source: `[${escaped.source}]`, ignoreCase }, only: undefined };
}

function literalOf(reader: SetReader, character: string, ignoreCase: boolean): Node {
  if (character === "\n") {
    throw reader.refuse(
      "it contains a line break, and lines are searched one at a time",
      "Search for one of the lines and set context_after",
    );
  }
  return literal(character, ignoreCase);
}

function parseParenthesis(reader: SetReader, ignoreCase: boolean, depth: number, at: number): Node {
  let isCaseIgnored = ignoreCase;
  const flags = reader.takeMatch(/^\?([a-zA-Z-]*):/)?.[1];
  if (flags !== undefined) isCaseIgnored = withFlags(flags, ignoreCase, reader);
  else if (reader.takeMatch(/^\?(<?[=!]|>|P[=>])/) !== undefined) {
    throw reader.refuse(
      "look-around, atomic groups and back-references are not supported",
      "Search for a part of it, or use exec with a program that can",
    );
  } else if (reader.peek() === "?" && reader.takeMatch(/^\?P?<\w+>/) === undefined) {
    throw reader.refuse(`the group at ${at} begins in a way that is not supported`);
  }
  const inside = parseGroup(reader, isCaseIgnored, depth + 1);
  if (!reader.take(")"))
    throw reader.refuse(`the "(" at ${at} is not closed; to search for a parenthesis escape it as \\(`);
  return inside;
}

/** Quantifiers, also several in a row. Lazy ones find the same lines as greedy ones. */
function parseRepeats(atom: Node, reader: SetReader): Node {
  let part = atom;
  for (;;) {
    const [least, most] = parseCounts(reader) ?? [];
    if (least === undefined || most === undefined) return part;
    if (least > most) throw reader.refuse(`it repeats at least ${least} and at most ${most} times`);
    if (Math.max(least, Number.isFinite(most) ? most : 0) > MOST_REPEATS)
      throw reader.refuse(`it repeats more than ${MOST_REPEATS} times`);
    part = { type: "repeat", part, least, most };
    reader.take("?");
  }
}

function parseCounts(reader: SetReader): [number, number] | undefined {
  if (reader.take("*")) return [0, Infinity];
  if (reader.take("+")) return [1, Infinity];
  if (reader.take("?")) return [0, 1];
  // A brace that holds no numbers stands for itself, as in `interface {`.
  const counts = reader.takeMatch(/^\{(?!,?\})(\d{0,9})(,(\d{0,9}))?\}/);
  if (counts === undefined) return undefined;
  const least = Number(counts[1]);
  if (counts[2] === undefined) return [least, least];
  return [least, counts[3] ? Number(counts[3]) : Infinity];
}

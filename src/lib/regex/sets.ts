/** The parts of a regular expression that stand for one character: escapes and classes, made safe for the runtime's own. */

import type { UserError } from "../../core/errors.ts";

export interface SetReader {
  isAtEnd(): boolean;
  /** From 1, for people. */
  position(): number;
  /** "" at the end. */
  peek(): string;
  next(): string;
  take(text: string): boolean;
  /** `pattern` begins with `^`. */
  takeMatch(pattern: RegExp): RegExpExecArray | undefined;
  /** What follows an opening bracket, closing bracket included, as a class of the `v` flag. */
  readClass(): string;
  refuse(why: string, hint?: string): UserError;
}

type Escape =
  | { readonly type: "character"; readonly character: string }
  /** To be put inside a class. */
  | { readonly type: "set"; readonly source: string };

const WORD = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u{200c}\\u{200d}";
/** Letters and digits of all scripts, as ripgrep has them. */
const NAMED: Readonly<Record<string, string>> = {
  d: "\\p{Nd}",
  D: "\\P{Nd}",
  s: "\\p{White_Space}",
  S: "\\P{White_Space}",
  w: WORD,
  W: `[^${WORD}]`,
};
export const WORD_SET = `[${WORD}]`;

const CONTROLS: Readonly<Record<string, string>> = {
  a: "\x07",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

const POSIX: Readonly<Record<string, string>> = {
  alnum: "a-zA-Z0-9",
  alpha: "a-zA-Z",
  blank: "\\u{20}\\u{9}",
  cntrl: "\\u{0}-\\u{1f}\\u{7f}",
  digit: "0-9",
  graph: "\\u{21}-\\u{7e}",
  lower: "a-z",
  print: "\\u{20}-\\u{7e}",
  punct: "\\u{21}-\\u{2f}\\u{3a}-\\u{40}\\u{5b}-\\u{60}\\u{7b}-\\u{7e}",
  space: "\\u{9}-\\u{d}\\u{20}",
  upper: "A-Z",
  word: "a-zA-Z0-9_",
  xdigit: "a-fA-F0-9",
};

function codeOf(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

export function setOf(character: string): string {
  return `[${codeOf(character)}]`;
}

/** What follows a backslash. */
export function escapeOf(reader: SetReader): Escape {
  const at = reader.position();
  const property = reader.takeMatch(/^[pP](?:\{\^?[\w=]+\}|[A-Z])/)?.[0];
  if (property !== undefined) return { type: "set", source: checkedProperty(property, reader) };
  const code = reader.takeMatch(/^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|[xu]\{([\da-fA-F]{1,6})\})/);
  if (code !== undefined) {
    const value = Number.parseInt(code[1] ?? code[2] ?? code[3] ?? "", 16);
    if (value > 0x10ffff) throw reader.refuse(`the escape at ${at} names no character`);
    return { type: "character", character: String.fromCodePoint(value) };
  }
  const character = reader.next();
  if (character === "") throw reader.refuse("it ends with a backslash; write two to search for one");
  const named = NAMED[character];
  if (named !== undefined) return { type: "set", source: named };
  const control = CONTROLS[character];
  if (control !== undefined) return { type: "character", character: control };
  if (/[1-9]/.test(character))
    throw reader.refuse("look-around, atomic groups and back-references are not supported");
  if (/[a-zA-Z0-9]/.test(character)) throw reader.refuse(`"\\${character}" at ${at} means nothing`);
  return { type: "character", character };
}

function checkedProperty(written: string, reader: SetReader): string {
  let name = written.slice(1).replace(/[{}]/g, "");
  let letter = written[0];
  if (name.startsWith("^")) {
    name = name.slice(1);
    letter = letter === "p" ? "P" : "p";
  }
  for (const spelled of [name, `Script=${name}`]) {
    const source = `\\${letter}{${spelled}}`;
    if (isValidClass(source)) return source;
  }
  throw reader.refuse(`the property "\\${written}" is not known`);
}

function isValidClass(inside: string): boolean {
  try {
    new RegExp(`[${inside}]`, "v");
    return true;
  } catch {
    // The runtime knows which properties there are, and says it this way only.
    return false;
  }
}

export function createSetReader(
  pattern: string,
  refuse: (why: string, hint?: string) => UserError,
): SetReader {
  let at = 0;

  const reader: SetReader = {
    refuse,
    isAtEnd: () => at >= pattern.length,
    position: () => at + 1,
    peek: () => pattern.charAt(at),
    next() {
      const code = pattern.codePointAt(at);
      const character = code === undefined ? "" : String.fromCodePoint(code);
      at += character.length;
      return character;
    },
    take(text) {
      if (!pattern.startsWith(text, at)) return false;
      at += text.length;
      return true;
    },
    takeMatch(expression) {
      // No construct that is looked for is longer.
      const found = expression.exec(pattern.slice(at, at + 100)) ?? undefined;
      at += found?.[0].length ?? 0;
      return found;
    },
    readClass,
  };

  function readClass(): string {
    const start = at;
    const isNegated = reader.take("^");
    let inside = "";
    // A bracket that closes at once stands for itself.
    for (let isFirst = true; isFirst || !reader.take("]"); isFirst = false) {
      // Between two sets they mean something, and taken for themselves they would find other lines in silence.
      const operator = isFirst ? undefined : reader.takeMatch(/^(?:&&|~~|--(?!\]))/)?.[0];
      if (operator !== undefined)
        throw refuse(
          `"${operator}" between sets is not supported`,
          "Write out the characters that are meant",
        );
      if (reader.isAtEnd())
        throw refuse(`the "[" at ${start} is not closed; to search for a bracket escape it as \\[`);
      inside += readItem();
    }
    return `[${isNegated ? "^\\n" : ""}${inside}]`;
  }

  /** A character, a range, or the name of a set. */
  function readItem(): string {
    const posix = reader.takeMatch(/^\[:(\^?)(\w+):\]/);
    if (posix !== undefined) {
      const set = Object.hasOwn(POSIX, posix[2] ?? "") ? POSIX[posix[2] ?? ""] : undefined;
      if (set === undefined) throw refuse(`the class "${posix[0]}" is not known`);
      return posix[1] === "^" ? `[^${set}]` : set;
    }
    const first = readCharacter();
    if (first.type === "set") return first.source;
    // A hyphen at the end stands for itself.
    if (reader.takeMatch(/^-(?!\])/) === undefined) return codeOf(first.character);
    const last = readCharacter();
    if (last.type === "set") return `${codeOf(first.character)}${codeOf("-")}${last.source}`;
    if ((first.character.codePointAt(0) ?? 0) > (last.character.codePointAt(0) ?? 0))
      throw refuse(`the range "${first.character}-${last.character}" goes backwards`);
    return `${codeOf(first.character)}-${codeOf(last.character)}`;
  }

  function readCharacter(): Escape {
    if (!reader.take("\\")) return { type: "character", character: reader.next() };
    // In a class it is the backspace, for which nobody searches.
    if (reader.peek() === "b") throw refuse('"\\b" in brackets means nothing');
    return escapeOf(reader);
  }

  return reader;
}

/** The words of a shell command after quotes and escapes are taken away: text, or the reason why it is unknown. */

import { clip } from "../../lib/text.ts";
import { expandBraces } from "./braces.ts";
import { type Node, OPERATOR, type ShellSyntax } from "./syntax.ts";

/** A piece of a word: text that is known, a variable, or something only the shell can work out. */
export type Piece =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "variable";
      readonly name: string;
      /** Not in quotes: the shell makes several words of a value with blanks. */
      readonly splits: boolean;
      /** `word` in `${name:-word}` and its like. */
      readonly otherwise?: Word;
    }
  | {
      readonly kind: "dynamic";
      readonly reason: string;
      /** It stands nowhere in the text. */
      readonly isImplied?: boolean;
    };

export interface Word {
  readonly pieces: readonly Piece[];
  /** An unquoted `*`, `?` or `[…]`: the shell puts file names in its place. */
  readonly glob: boolean;
  /** Begins with an unquoted `~`. */
  readonly tilde: boolean;
  /** What it was read from; omitted for a word that was made of others. */
  readonly node?: Node;
}

export function textWord(text: string): Word {
  return { pieces: [{ kind: "text", text }], glob: false, tilde: false };
}

/** An unquoted `~`, which is the home folder. */
export const homeWord: Word = { ...textWord("~"), tilde: true };

export function dynamicWord(reason: string): Word {
  return { pieces: [{ kind: "dynamic", reason, isImplied: true }], glob: false, tilde: false };
}

/** The text of a word in which nothing is left to the shell but globs; `undefined` for every other. */
export function staticText(word: Word | undefined): string | undefined {
  let text = "";
  for (const piece of word?.pieces ?? []) {
    if (piece.kind !== "text") return undefined;
    text += piece.text;
  }
  return word === undefined ? undefined : text;
}

/** The word as the command's owner would recognise it, for patterns and messages. */
export function shown(word: Word): string {
  return word.pieces
    .map((piece) =>
      piece.kind === "text" ? piece.text : piece.kind === "variable" ? `$${piece.name}` : "$(…)",
    )
    .join("");
}

/** Of a word in a message. */
const LONGEST_SHOWN = 120;

/** The word in a message, in quotes, or what it is where it stands nowhere. */
export function displayed(word: Word): string {
  const [only, ...more] = word.pieces;
  if (only?.kind === "dynamic" && only.isImplied === true && more.length === 0) return only.reason;
  return `"${clip(shown(word), LONGEST_SHOWN)}"`;
}

/** What is known of the word's beginning. */
export function knownStart(word: Word): string {
  const [first] = word.pieces;
  return first?.kind === "text" ? first.text : "";
}

/** The word without its first characters, which are known. */
export function cut(word: Word, length: number): Word {
  const [first, ...rest] = word.pieces;
  if (first?.kind !== "text") return word;
  const text = first.text.slice(length);
  return {
    pieces: text === "" && rest.length > 0 ? rest : [{ kind: "text", text }, ...rest],
    glob: word.glob,
    tilde: text.startsWith("~"),
  };
}

/** Why the text of a word is not known. */
export function whyDynamic(word: Word): string | undefined {
  for (const piece of word.pieces) {
    if (piece.kind === "variable") return `the variable $${piece.name}`;
    if (piece.kind === "dynamic") return piece.reason;
  }
  return word.glob ? "a file name pattern" : undefined;
}

/** The words that a `Word` node stands for: several where braces are expanded. */
export function readWords(syntax: ShellSyntax, node: Node): readonly Word[] {
  const { source, held } = sourceOf(syntax, node);
  if (!source.includes("{")) return [{ ...wordOf(source, held), node }];
  // Nothing at all is no word, unless it is quoted.
  return expandBraces(source)
    .filter((text) => text !== "")
    .map((text) => ({ ...wordOf(text, held), node }));
}

export function readWord(syntax: ShellSyntax, node: Node): Word {
  const { source, held } = sourceOf(syntax, node);
  return wordOf(source, held);
}

/** The unquoted text of a word, in which a number between NULs, which no command contains, stands for the rest. */
function sourceOf(syntax: ShellSyntax, node: Node): { source: string; held: readonly Held[] } {
  const held: Held[] = [];
  const texts = syntax.children(node, "Parts").map((part) => {
    if (part.type === "Lit") return String(part.raw["Value"]);
    held.push({ pieces: readPart(syntax, part), glob: part.type === "ExtGlob" });
    return `\0${held.length - 1}\0`;
  });
  return { source: texts.join(""), held };
}

type Held = Pick<Word, "pieces" | "glob">;

function wordOf(source: string, held: readonly Held[]): Word {
  const parts = source.split("\0").map((text, index) => {
    // Every second is a number.
    const part = index % 2 === 1 ? held[Number(text)] : undefined;
    return part ?? unquotedWord(text);
  });
  return {
    pieces: joined(parts.flatMap(({ pieces }) => pieces)),
    glob: parts.some(({ glob }) => glob),
    tilde: source.startsWith("~"),
  };
}

function readPart(syntax: ShellSyntax, part: Node, quoted = false): readonly Piece[] {
  switch (part.type) {
    case "SglQuoted": {
      const text = String(part.raw["Value"]);
      return [{ kind: "text", text: part.raw["Dollar"] === true ? decodeAnsiC(text) : text }];
    }
    case "DblQuoted":
      return syntax.children(part, "Parts").flatMap((inner) =>
        inner.type === "Lit"
          ? [
              {
                kind: "text" as const,
                text: String(inner.raw["Value"]).replace(/\\([$`"\\\n])/g, unescaped),
              },
            ]
          : readPart(syntax, inner, true),
      );
    case "ParamExp":
      return [readVariable(syntax, part, !quoted)];
    case "CmdSubst":
      return [{ kind: "dynamic", reason: "the output of a command" }];
    case "ProcSubst":
      return [{ kind: "dynamic", reason: "a process substitution" }];
    case "ArithmExp":
      return [{ kind: "dynamic", reason: "the result of arithmetic" }];
    case "ExtGlob":
      // Wider than what it stands for, which is the safe side.
      return [{ kind: "text", text: "*" }];
    default:
      return [{ kind: "dynamic", reason: "an expansion" }];
  }
}

const ALTERNATIVES: ReadonlySet<unknown> = new Set(OPERATOR.alternatives);

function readVariable(syntax: ShellSyntax, node: Node, splits: boolean): Piece {
  const name = String(syntax.child(node, "Param")?.raw["Value"] ?? "");
  const { Excl, Length, Width, Index, Slice, Repl, Exp, Names } = node.raw;
  const isPlain = !Excl && !Length && !Width && !Index && !Slice && !Repl && !Names;
  if (isPlain && !Exp) return { kind: "variable", name, splits };
  if (isPlain && typeof Exp === "object" && Exp !== null && "Op" in Exp && ALTERNATIVES.has(Exp.Op)) {
    const [otherwise] = syntax.inRecord(Exp, "Word");
    if (otherwise !== undefined)
      return { kind: "variable", name, splits, otherwise: readWord(syntax, otherwise) };
  }
  return { kind: "dynamic", reason: `an expansion of $${name}` };
}

const unescaped = (_: string, character: string) => (character === "\n" ? "" : character);

function unquotedWord(source: string): Word {
  const unescapedSource = source.replace(/\\[\s\S]/g, "");
  const text = source.replace(/\\([\s\S])/g, unescaped);
  const glob = /[*?]|\[[^\]]+\]/.test(unescapedSource);
  return { pieces: [{ kind: "text", text }], glob, tilde: source.startsWith("~") };
}

function joined(pieces: readonly Piece[]): readonly Piece[] {
  const result: Piece[] = [];
  for (const piece of pieces) {
    if (piece.kind === "text" && piece.text === "") continue;
    const last = result.at(-1);
    if (piece.kind === "text" && last?.kind === "text") {
      result[result.length - 1] = { kind: "text", text: last.text + piece.text };
    } else {
      result.push(piece);
    }
  }
  return result.length === 0 ? [{ kind: "text", text: "" }] : result;
}

const ansiNames: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** `$'…'`: what bash makes of the escapes. Bytes above 127 become characters of one byte, which no command is. */
function decodeAnsiC(text: string): string {
  const escapes =
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/g;
  const decoded = text.replace(escapes, (_, hex, short, long, octal, control, other: string) => {
    const digits: string | undefined = hex ?? short ?? long;
    if (digits !== undefined) {
      const point = Number.parseInt(digits, 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd";
    }
    if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8) & 0xff);
    if (control !== undefined) return String.fromCodePoint(String(control).charCodeAt(0) & 0x1f);
    return ansiNames[other] ?? (/[\\'"?]/.test(other) ? other : `\\${other}`);
  });
  // Bash ends such a string at a NUL.
  const [beforeNul = ""] = decoded.split("\0");
  return beforeNul;
}

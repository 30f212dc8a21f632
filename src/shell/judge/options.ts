/** Options of a program, in any spelling that getopt takes. */

import { knownStart, staticText, type Word } from "./word.ts";

export interface OptionSpec {
  /** Letters of short options that take a value. */
  readonly short?: string;
  /** Long options that take a value, without dashes. */
  readonly long?: readonly string[];
  /** A shortened name is another option's. */
  readonly exact?: boolean;
}

export interface Options {
  /** Letters of short options, and names of long ones as they were written. */
  readonly letters: ReadonlySet<string>;
  readonly names: readonly string[];
  /** Values by letter or name; `undefined` where the text is not known. */
  readonly values: ReadonlyMap<string, readonly (Word | undefined)[]>;
  readonly operands: readonly Word[];
  /** Words that might be options, their text not being known. */
  readonly unclear: readonly Word[];
}

/**
 * Splits arguments into options and operands. `permute` (as GNU programs do) finds options after operands
 * too; without it the first operand ends them.
 */
export function readOptions(words: readonly Word[], spec: OptionSpec = {}, permute = true): Options {
  const letters = new Set<string>();
  const names: string[] = [];
  const values = new Map<string, (Word | undefined)[]>();
  const operands: Word[] = [];
  const unclear: Word[] = [];
  const keep = (name: string, value: Word | undefined) =>
    values.set(name, [...(values.get(name) ?? []), value]);

  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) break;
    const start = knownStart(word);
    if (start === "" && staticText(word) === undefined) unclear.push(word);
    if (start === "--" && staticText(word) === "--") {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (!start.startsWith("-") || start === "-") {
      if (!permute) {
        operands.push(...words.slice(at));
        break;
      }
      operands.push(word);
      continue;
    }
    if (start.startsWith("--")) {
      const { name, inline } = splitLong(word, start);
      names.push(name);
      const full = valueOption(name, spec);
      if (inline !== undefined) keep(full ?? name, inline);
      else if (full !== undefined) keep(full, words[++at]);
      if (staticText(word) === undefined && inline === undefined) unclear.push(word);
      continue;
    }
    // A pattern may become any option: `-r{f..f}`, `-r[f]`.
    if (staticText(word) === undefined || word.glob) unclear.push(word);
    for (let index = 1; index < start.length; index++) {
      const letter = start[index] ?? "";
      letters.add(letter);
      if (!spec.short?.includes(letter)) continue;
      const rest = start.slice(index + 1);
      keep(letter, rest === "" ? words[++at] : withStart(word, rest, start));
      break;
    }
  }
  return { letters, names, values, operands, unclear };
}

/** The option with a value that a long name stands for, in full or shortened as GNU programs allow. */
function valueOption(name: string, { long = [], exact = false }: OptionSpec): string | undefined {
  if (exact || long.includes(name)) return long.find((one) => one === name);
  return long.find((one) => name !== "" && one.startsWith(name));
}

/** Whether a long option was given, in full or shortened as GNU programs allow. */
export function hasLong(options: Options, name: string, shortest = 1): boolean {
  return options.names.some((given) => given.length >= shortest && name.startsWith(given));
}

function splitLong(word: Word, start: string): { name: string; inline: Word | undefined } {
  const equals = start.indexOf("=");
  if (equals < 0) return { name: start.slice(2), inline: undefined };
  return { name: start.slice(2, equals), inline: withStart(word, start.slice(equals + 1), start) };
}

/** The word with its known beginning replaced. */
function withStart(word: Word, text: string, start: string): Word {
  const [first, ...rest] = word.pieces;
  if (first?.kind !== "text" || first.text !== start) return word;
  return { pieces: [{ kind: "text", text }, ...rest], glob: word.glob, tilde: text.startsWith("~") };
}

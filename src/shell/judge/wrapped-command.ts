/** The command behind a wrapper: `sudo`, `env`, `xargs`, `timeout`. */

import { type Found, foundCommand } from "./found.ts";
import { type Options, readOptions } from "./options.ts";
import { joinedCode, unknownCode } from "./shell-code.ts";
import { variableCode } from "./variable-code.ts";
import { cut, dynamicWord, knownStart, shown, staticText, textWord, type Word, whyDynamic } from "./word.ts";
import type { Wrapper } from "./wrappers.ts";

export function wrappedCommand(name: string, args: readonly Word[], wrapper: Wrapper): readonly Found[] {
  let rest = args;
  if (wrapper.after !== undefined) {
    const at = rest.findIndex((word) => !(staticText(word) ?? "").startsWith("-"));
    if (at < 0 || !wrapper.after.includes(staticText(rest[at]) ?? "")) return [];
    rest = rest.slice(at + 1);
  }
  if (name === "env") {
    const split = splitString(rest);
    if (split !== undefined) return joinedCode(name, split);
  }
  const options = readOptions(rest, wrapper, false);
  const [unclear] = options.unclear;
  if (unclear !== undefined && options.operands.length === 0) return [dynamicCommand(name, unclear)];
  if (wrapper.unless !== undefined && [...wrapper.unless].some((letter) => options.letters.has(letter)))
    return [];
  const call =
    options.values.get("c")?.[0] ?? options.values.get("call")?.[0] ?? options.values.get("command")?.[0];
  if ((name === "npx" || name === "script") && call !== undefined) return joinedCode(name, [call]);
  if (name === "npx" || name === "bunx" || name === "script")
    return name === "script" ? [] : foundCommand(name, options.operands);

  const isIgnored = (word: Word | undefined) => name === "env" && word !== undefined && shown(word) === "-";
  // `env -` is `env -i`, and options may follow it.
  if (isIgnored(options.operands[0])) return wrappedCommand(name, options.operands.slice(1), wrapper);
  let words = options.operands.slice(wrapper.skip ?? 0);
  const [next] = words;
  if (next !== undefined && staticText(next) === "--") words = words.slice(1);
  const from = wrapper.assignments === true ? words.findIndex((word) => !/^\w+=/.test(shown(word))) : 0;
  const outer = wrapper.assignments === true ? (from < 0 ? words : words.slice(0, from)) : [];
  const found = variableCode(
    outer.map((word) => {
      const [variable = "", value = ""] = shown(word).split(/=([\s\S]*)/);
      return { name: variable, value: staticText(word) === undefined ? undefined : textWord(value) };
    }),
  );
  if (from < 0) return found;
  words = words.slice(from);
  if (words.length === 0)
    return name === "parallel" ? [...found, unknownCode(name, dynamicWord("what it is given"))] : found;
  if (wrapper.code === true) return [...found, ...remoteOrLocal(name, words, wrapper)];
  if (wrapper.appends === true) {
    const given = dynamicWord(`what ${name} is given`);
    words = [...words.map((word) => withGiven(word, marks(options), given)), given];
  }
  return [...found, ...foundCommand(name, words)];
}

/** What xargs puts what it is given in the place of. */
function marks({ values, names, letters }: Options): readonly string[] {
  const given = ["I", "replace"].flatMap((option) =>
    (values.get(option) ?? []).flatMap((word) => staticText(word) ?? []),
  );
  return letters.has("i") || names.includes("replace") ? [...given, "{}"] : given;
}

/** In code a mark is as good as an argument; the text that holds it stays known. */
function withGiven(word: Word, among: readonly string[], given: Word): Word {
  const text = staticText(word);
  const mark = among.find((one) => one !== "" && text?.includes(one));
  if (text === undefined || mark === undefined) return word;
  return text === mark ? given : textWord(text.replaceAll(mark, "$1"));
}

function remoteOrLocal(name: string, words: readonly Word[], wrapper: Wrapper): readonly Found[] {
  const end = name === "parallel" ? words.findIndex((word) => /^:::/.test(shown(word))) : -1;
  const code = end < 0 ? words : words.slice(0, end);
  if (code.length === 0) return [unknownCode(name, words[0] ?? dynamicWord("its arguments"))];
  const more = wrapper.appends === true ? ' "$1"' : "";
  return joinedCode(name, code, wrapper.remote === true, more);
}

/** `env -S 'sh -x' -c …`: only the string is split, and the words after it stay whole. */
function splitString(args: readonly Word[]): readonly Word[] | undefined {
  const at = args.findIndex((word) => /^(?:-[iv0]*S|--split-string)/.test(knownStart(word)));
  const word = args[at];
  if (word === undefined) return undefined;
  const flag = /^(?:-[iv0]*S|--split-string=?)/.exec(knownStart(word))?.[0] ?? "";
  const inline = shown(word) === flag.replace(/=$/, "") ? [] : [cut(word, flag.length)];
  const [first, ...more] = [...inline, ...args.slice(at + 1)];
  return first === undefined ? undefined : [first, ...more.map(quoted)];
}

/** The word as it has to be written to be one word again. */
function quoted(word: Word): Word {
  const text = staticText(word);
  return text === undefined ? word : textWord(`'${text.replaceAll("'", "'\\''")}'`);
}

function dynamicCommand(name: string, word: Word): Found {
  const reason = `what ${name} would run depends on ${whyDynamic(word) ?? "an expansion"}; write the command itself`;
  return { kind: "suspicion", suspicion: { rule: "dynamic-command", reason } };
}

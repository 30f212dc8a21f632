/** Commands hidden in the subscripts of names: the shell runs them when it evaluates what it was given as text. */

import { names } from "./names.ts";
import { readOptions } from "./options.ts";
import type { Suspicion } from "./parsed.ts";
import { staticText, type Word } from "./word.ts";

/** `a[$(command)]` as text, which arithmetic and the builtins that take names evaluate. */
export function hiddenCommand(where: string, text: string | undefined): readonly Suspicion[] {
  if (text === undefined || !/\[[^\]]*(?:\$\(|`)/.test(text)) return [];
  const reason = `a command is hidden in the text given to ${where}; write it in the open`;
  return [{ rule: "dynamic-code", reason }];
}

/** Builtins whose operands are names of variables. */
const takesNames = names("read unset declare typeset local readonly export let getopts mapfile readarray");
/** Builtins that take a name after one option. */
const nameOption: Readonly<Record<string, string>> = { printf: "v", test: "v", "[": "v", wait: "p" };

export function hiddenInNames(name: string, args: readonly Word[]): readonly Suspicion[] {
  const option = Object.hasOwn(nameOption, name) ? nameOption[name] : undefined;
  const named = option === undefined ? [] : (readOptions(args, { short: option }).values.get(option) ?? []);
  const words = takesNames.has(name) ? args : named;
  return words.flatMap((word) => hiddenCommand(name, staticText(word)));
}

/** Programs in other languages that are given on the command line: `python -c`, `vim +command`, `make NAME=value`. */

import type { Found } from "./found.ts";
import { readOptions } from "./options.ts";
import { staticText, textWord, type Word } from "./word.ts";
import { interpreters } from "./wrappers.ts";

export function programCode(language: string, args: readonly Word[]): readonly Found[] {
  const { letters, names = [] } = interpreters[language] ?? { letters: "" };
  if (language === "deno" && staticText(args[0]) === "eval") {
    return [{ kind: "opaque", via: language, text: staticText(args.at(-1)) }];
  }
  const { values } = readOptions(args.flatMap(apart), { short: letters, long: names }, false);
  const given = [...letters, ...names].flatMap((name) => values.get(name) ?? []);
  const pattern = Object.hasOwn(codeWords, language) ? codeWords[language] : undefined;
  const more = args.filter((word) => pattern?.test(staticText(word) ?? "") === true);
  return [...given, ...more].map((word) => ({ kind: "opaque", via: language, text: staticText(word) }));
}

/** Words that hold code without an option before them. */
const codeWords: Readonly<Record<string, RegExp>> = {
  vim: /^\+\D/,
  vi: /^\+\D/,
  nvim: /^\+\D/,
  ex: /^\+\D/,
  make: /^\w+[:?+]?=/,
};

/** `node -pe`: the second letter asks for a value too, and is none. `emacs -eval`: one dash is enough. */
function apart(word: Word): readonly Word[] {
  const text = staticText(word);
  if (text === "-pe") return [textWord("-e")];
  return [text === "-eval" ? textWord("--eval") : word];
}

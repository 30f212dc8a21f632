/** Words that only mention what they say: no program opens it, and nobody is given it. */

import { gitOptions } from "./git-code.ts";
import { sedScripts } from "./inner-code.ts";
import { names } from "./names.ts";
import { readOptions } from "./options.ts";
import type { SimpleCommand } from "./parsed.ts";
import { patternFirst } from "./path-words.ts";
import { programName } from "./program-name.ts";
import { shown, staticText, type Word } from "./word.ts";

/** Programs that look for a text in files. */
const searchers = names("grep egrep fgrep zgrep rg ag ack");

/** Their long options behind which the text that is sought may stand; others may take it for their value. */
const flags = names(
  "count color colour extended-regexp files-with-matches fixed-strings heading hidden ignore-case invert-match json",
  "line-number line-regexp multiline no-filename no-heading no-ignore no-messages null only-matching pcre2 perl-regexp",
  "quiet recursive silent smart-case text trim vimgrep with-filename word-regexp",
);

/** Subcommands of git that put a text into the repository, or look for it there. */
const keepers = names("commit tag log grep notes stash");

/** `isFunction`: whether the text makes a function of a name. */
export function mentionedWords(
  command: SimpleCommand,
  isFunction: (name: string) => boolean,
): readonly Word[] {
  const name = programName(command);
  if (name === undefined || command.keyword || isFunction(name)) return [];
  const args = command.words.slice(1);
  // In a function it may be given to whoever calls that.
  const isShown = !command.feeds && !command.kept && command.within.length === 0;
  if (searchers.has(name)) return soughtWords(name, args);
  switch (name) {
    case "test":
    case "[":
      return args;
    case "echo":
      return isShown ? args : [];
    case "printf":
      return isShown && !readOptions(args, { short: "v" }, false).letters.has("v") ? args : [];
    case "sed":
      return isShown ? sedScripts(args) : [];
    case "git": {
      const [subcommand, ...rest] = readOptions(args, gitOptions, false).operands;
      return isShown && keepers.has(staticText(subcommand) ?? "") ? rest : [];
    }
    default:
      return [];
  }
}

function soughtWords(name: string, args: readonly Word[]): readonly Word[] {
  const { short = "" } = patternFirst[name] ?? {};
  const { operands, values, letters } = readOptions(args, { short, long: ["regexp", "file"] });
  const given = [...(values.get("e") ?? []), ...(values.get("regexp") ?? [])];
  if (given.length > 0 || letters.has("f") || values.has("file"))
    return given.filter((word) => word !== undefined);
  const [first] = operands;
  const before = first === undefined ? undefined : args[args.indexOf(first) - 1];
  const option = before === undefined ? undefined : /^--([^=]+)$/.exec(shown(before))?.[1];
  return first !== undefined && (option === undefined || flags.has(option)) ? [first] : [];
}

/** Commands that have a shell read the profile files in the home folder before it does anything else. */

import { readOptions } from "./options.ts";
import type { SimpleCommand } from "./parsed.ts";
import { programName } from "./program-name.ts";
import { knownStart, staticText, type Word } from "./word.ts";
import { shells } from "./wrappers.ts";

export function readsProfiles(command: SimpleCommand): boolean {
  if (command.remote || command.keyword) return false;
  const name = programName(command);
  const args = command.words.slice(1);
  if (name === "exec") return startsLogin(args);
  if (name === undefined || !shells.has(name)) return false;
  const { letters, names } = readOptions(args, { short: "oO", long: ["rcfile", "init-file"] }, false);
  if (letters.has("l") || names.includes("login")) return !names.includes("noprofile");
  return letters.has("i") && !names.includes("norc");
}

/** A shell whose name begins with a dash takes itself for a login shell. */
function startsLogin(args: readonly Word[]): boolean {
  const { letters, values, operands } = readOptions(args, { short: "a" }, false);
  const named = (values.get("a") ?? []).some(
    (word) => word === undefined || staticText(word) === undefined || knownStart(word).startsWith("-"),
  );
  return (letters.has("l") || named) && shells.has(programName({ words: operands }) ?? "");
}

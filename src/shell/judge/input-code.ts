/** Programs that run what they are given on standard input. */

import type { Found } from "./found.ts";
import { awkProgram, sedCode } from "./inner-code.ts";
import { names } from "./names.ts";
import { readOptions } from "./options.ts";
import type { SimpleCommand } from "./parsed.ts";
import { shown, staticText, textWord, type Word } from "./word.ts";
import { interpreterOf, interpreters, shells } from "./wrappers.ts";

/** `| sh`, `python3 <<EOF`. */
export function byInput(name: string, args: readonly Word[], { stdin }: SimpleCommand): readonly Found[] {
  const isShell =
    shells.has(name) || (queues.has(name) && !args.some((word) => /^-[cdflqr]/.test(shown(word))));
  const interpreter = interpreterOf(name);
  const isScript = takesScriptFromInput(name, args);
  if (!isShell && interpreter === undefined && !isScript) return [];
  const scripted = stdin.kind === "text" && scriptable.has(interpreter ?? "");
  if (!scripted && !isScript && !queues.has(name) && !readsProgramFromInput(isShell, interpreter ?? "", args))
    return [];
  if (stdin.kind === "text" && stdin.text !== undefined) {
    if (awks.has(name)) return awkProgram(name, stdin.text);
    if (name === "sed") return sedCode([textWord(stdin.text)]);
    return isShell
      ? [{ kind: "code", via: name, text: stdin.text }]
      : [{ kind: "opaque", via: interpreter ?? name, text: stdin.text }];
  }
  if (stdin.kind === "inherited" || stdin.kind === "file") return [];
  const reason = `${name} would run whatever it is given on its standard input; save it to a file, read it, then run the file`;
  return [{ kind: "suspicion", suspicion: { rule: "pipe-to-shell", reason } }];
}

/** Programs that keep what they read for a shell to run later. */
const queues = names("at batch");
/** Programs that open a file and take their commands from standard input. */
const scriptable = names("ed ex gdb sqlite3");
export const inputNames = names("- /dev/stdin /dev/fd/0 /proc/self/fd/0");

/** Programs that take a script by an option. */
const scriptOption: Readonly<Record<string, string>> = {
  make: "f",
  awk: "f",
  mawk: "f",
  nawk: "f",
  sed: "f",
  vim: "S",
  nvim: "S",
  gdb: "x",
};
const awks = names("awk mawk nawk");

function takesScriptFromInput(name: string, args: readonly Word[]): boolean {
  const letter = Object.hasOwn(scriptOption, name) ? scriptOption[name] : undefined;
  if (letter === undefined) return false;
  const { values } = readOptions(args, { short: letter, long: ["file", "makefile"] });
  const files = [letter, "file", "makefile"].flatMap((option) => values.get(option) ?? []);
  return files.some((file) => inputNames.has(staticText(file) ?? ""));
}

function readsProgramFromInput(isShell: boolean, interpreter: string, args: readonly Word[]): boolean {
  const takers = interpreters[interpreter];
  const options = readOptions(
    args,
    { short: isShell ? "oOc" : (takers?.letters ?? "") + (interpreter === "python" ? "mWX" : "") },
    false,
  );
  if (isShell && options.letters.has("s")) return true;
  if (options.letters.has("c") && isShell) return false;
  if ([...(takers?.letters ?? "")].some((letter) => options.letters.has(letter))) return false;
  if (options.letters.has("m") && interpreter === "python") return false;
  if (takers?.names?.some((name) => options.names.includes(name))) return false;
  // Asking for the version or the help.
  if (options.names.some((name) => ["version", "help"].includes(name))) return false;
  if (["V", "v", "h"].some((letter) => !isShell && options.letters.has(letter))) return false;
  const [first] = options.operands;
  if (
    ["make", "vim", "vi", "nvim", "emacs", "sqlite3", "gdb", "ed", "ex", "deno", "bun"].includes(interpreter)
  ) {
    return first !== undefined && inputNames.has(staticText(first) ?? "");
  }
  return first === undefined || inputNames.has(staticText(first) ?? "");
}

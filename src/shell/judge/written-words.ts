/** Which words of a command name what it changes, deletes or replaces. */

import { sedFiles } from "./inner-code.ts";
import { readOptions } from "./options.ts";
import { cut, knownStart, textWord, type Word } from "./word.ts";

/** The words that the command changes, deletes or replaces. */
export function writtenWords(name: string, args: readonly Word[]): readonly Word[] {
  switch (name) {
    case "tee":
    case "touch":
    case "mkdir":
    case "rmdir":
    case "rm":
    case "unlink":
    case "shred":
    case "mknod":
      return readOptions(args).operands;
    case "truncate":
      return readOptions(args, { short: "sr", long: ["size", "reference"] }).operands;
    case "chmod":
    case "chown":
    case "chgrp":
    case "chattr":
    case "setfacl":
      return readOptions(args).operands.slice(1);
    case "mv":
      return readOptions(args, { short: "tS", long: ["target-directory", "suffix"] }).operands.concat(
        named(args, "t", "target-directory"),
      );
    case "cp":
    case "ln":
    case "install":
    case "rsync":
    case "scp": {
      const spec = {
        short: name === "install" ? "tSmog" : name === "rsync" ? "efT" : "tS",
        long: ["target-directory", "suffix"],
      };
      const { operands, values } = readOptions(args, spec);
      const target = [...(values.get("t") ?? []), ...(values.get("target-directory") ?? [])].filter(
        (word) => word !== undefined,
      );
      return target.length > 0 ? target : operands.length > 1 ? operands.slice(-1) : [];
    }
    case "sed":
    case "perl": {
      const inPlace = args.some((word) => /^-[a-zA-Z]*i|^--in-place/.test(knownStart(word)));
      const edited = inPlace ? readOptions(args, { short: "ef" }).operands : [];
      return name === "perl" ? edited : [...edited, ...sedFiles(args).writes];
    }
    case "dd":
      return args.filter((word) => knownStart(word).startsWith("of=")).map((word) => cut(word, 3));
    case "find":
      return args.filter((_, index) =>
        /^-f(?:ls|print|print0|printf)$/.test(knownStart(args[index - 1] ?? textWord(""))),
      );
    case "curl":
      return ["o output", "D dump-header", "c cookie-jar"].flatMap((names) => {
        const [letter = "", long = ""] = names.split(" ");
        return named(args, letter, long);
      });
    case "wget":
      return [...named(args, "O", "output-document"), ...named(args, "P", "directory-prefix")];
    case "sort":
      return named(args, "o", "output");
    default:
      return [];
  }
}

function named(args: readonly Word[], letter: string, long: string): readonly Word[] {
  const { values } = readOptions(args, { short: letter, long: [long] });
  return [...(values.get(letter) ?? []), ...(values.get(long) ?? [])].filter((word) => word !== undefined);
}

/** Which words of a command can be paths, and which of its words another command may take for paths. */

import { containerCommand } from "./containers.ts";
import { sedFiles, sedScripts } from "./inner-code.ts";
import { names } from "./names.ts";
import { readOptions } from "./options.ts";
import type { SimpleCommand } from "./parsed.ts";
import { programName } from "./program-name.ts";
import { knownStart, shown, staticText, textWord, type Word } from "./word.ts";
import { interpreterOf, interpreters, shells, wrapperOf } from "./wrappers.ts";

/** Programs none of whose arguments is opened. */
const pathless = names(
  "echo printf true false : type alias unalias set kill pkill killall pgrep sleep basename dirname seq expr trap eval " +
    "export local declare typeset readonly unset return exit break continue shift bc let umask ulimit logger " +
    "which whereis man yes tr date notify-send hash wait",
);

/** Programs whose first operand is a pattern or a program. */
export const patternFirst: Readonly<Record<string, { readonly short: string; readonly gives: string }>> = {
  grep: { short: "ABCmefd", gives: "ef" },
  egrep: { short: "ABCmefd", gives: "ef" },
  fgrep: { short: "ABCmefd", gives: "ef" },
  zgrep: { short: "ABCmefd", gives: "ef" },
  rg: { short: "ABCmefgtTjMEr", gives: "ef" },
  ag: { short: "ABCmG", gives: "" },
  ack: { short: "ABCm", gives: "" },
  jq: { short: "fL", gives: "f" },
  yq: { short: "", gives: "" },
  awk: { short: "Fvfe", gives: "fe" },
  mawk: { short: "Fvf", gives: "f" },
  fd: { short: "etdEjx", gives: "" },
  fdfind: { short: "etdEjx", gives: "" },
};

/** Programs with options that take a character or a range, and those of their options that take a file. */
const separators: Readonly<Record<string, { readonly short: string; readonly files: string }>> = {
  cut: { short: "bcdf", files: "" },
  paste: { short: "d", files: "" },
  column: { short: "cdEHlNoOprRsTW", files: "" },
  sort: { short: "koStT", files: "oT" },
};

/** Programs that only read what they are given. */
export const readers: ReadonlySet<string> = names(
  "cat tac less more head tail grep egrep fgrep zgrep rg ag ack ls dir tree file stat wc jq yq diff cmp comm sort uniq cut " +
    "nl od xxd hexdump strings md5sum sha1sum sha256sum sha512sum cksum du df readlink realpath test [ [[ for cd pushd " +
    "find fd fdfind bat column paste fold rev zcat base64 awk mawk sed git",
);

/** The words that can be paths. The code in a `-c` and the command behind a wrapper are looked at by themselves. */
export function pathWords(name: string, args: readonly Word[]): readonly Word[] {
  if (pathless.has(name)) return [];
  const container = containerCommand(name, args);
  if (container !== undefined) return container.host;
  const wrapper = wrapperOf(name);
  if (wrapper !== undefined) return optionValues(args, wrapper, name === "xargs" ? ["d", "delimiter"] : []);
  if (name === "test" || name === "[") return testWords(args);
  const separated = Object.hasOwn(separators, name) ? separators[name] : undefined;
  if (separated !== undefined) {
    const { operands, values } = readOptions(args, { short: separated.short });
    const files = [...separated.files].flatMap((letter) => values.get(letter) ?? []);
    const long = args.filter((word) => knownStart(word).startsWith("--"));
    return [...operands, ...long, ...files.filter((word) => word !== undefined)];
  }
  if (shells.has(name)) {
    const { letters, operands } = readOptions(args, { short: "oO", long: ["rcfile", "init-file"] }, false);
    return letters.has("c") ? operands.slice(1) : operands;
  }
  const interpreter = interpreterOf(name);
  if (interpreter !== undefined) {
    const { letters = "", names: long = [] } = interpreters[interpreter] ?? {};
    const { operands, values } = readOptions(args, { short: letters, long }, false);
    const evaluates = [...letters, ...long].some((one) => values.has(one)) || staticText(args[0]) === "eval";
    return evaluates ? operands.filter((word) => /^[./~]/.test(shown(word))) : args;
  }
  if (name === "sed") {
    const scripts = new Set(sedScripts(args));
    const rest = args.filter(
      (word) => !scripts.has(word) && !/^-[a-z]*e|^--expression/.test(knownStart(word)),
    );
    return [...rest, ...sedFiles(args).reads];
  }
  if (name === "find") return findWords(args);
  if (name === "git") return gitWords(args);
  const pattern = Object.hasOwn(patternFirst, name) ? patternFirst[name] : undefined;
  if (pattern === undefined) return withoutTexts(name, args);
  const { operands, values, letters } = readOptions(args, { short: pattern.short });
  const rest = [...pattern.gives].some((letter) => letters.has(letter)) ? operands : operands.slice(1);
  return [...rest, ...(values.get("f") ?? []).filter((word) => word !== undefined)];
}

/** Options behind which a text stands, and no file. */
const textOptions: Readonly<Record<string, RegExp>> = {
  curl: /^(?:-[dHAbeX]|--(?:data|data-raw|data-binary|json|header|user-agent|cookie|referer|request))$/,
  rsync: /^--(?:exclude|include)$/,
  tar: /^--exclude$/,
  du: /^--exclude$/,
};

function withoutTexts(name: string, args: readonly Word[]): readonly Word[] {
  const before = Object.hasOwn(textOptions, name) ? textOptions[name] : undefined;
  if (before === undefined) return args;
  return args.filter((word, index) => {
    const option = args[index - 1];
    const text = staticText(word);
    if (option === undefined || text === undefined || !before.test(shown(option))) return true;
    // `@file` is read for curl, and a cookie without a value is a file of them.
    return (
      name === "curl" &&
      (text.startsWith("@") || (/^-(?:b|-cookie)$/.test(shown(option)) && !text.includes("=")))
    );
  });
}

function optionValues(
  args: readonly Word[],
  spec: Parameters<typeof readOptions>[1],
  texts: readonly string[],
): readonly Word[] {
  return [...readOptions(args, spec, false).values].flatMap(([option, words]) =>
    texts.includes(option) ? [] : words.filter((word) => word !== undefined),
  );
}

/** What is compared as text or as a number is not opened. */
function testWords(args: readonly Word[]): readonly Word[] {
  const compares = (word: Word | undefined) =>
    word !== undefined && /^(?:[=!]?=|=~|[<>]|-(?:eq|ne|lt|le|gt|ge))$/.test(shown(word));
  return args.filter((_, index) => !compares(args[index - 1]) && !compares(args[index + 1]));
}

function findWords(args: readonly Word[]): readonly Word[] {
  const result: Word[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === undefined) break;
    const text = staticText(word) ?? "";
    if (/^-(?:exec|execdir|ok|okdir)$/.test(text)) {
      while (at < args.length && !/^[;+]$/.test(staticText(args[at]) ?? "")) at++;
    } else if (
      /^-(?:i?name|i?path|i?regex|i?wholename|i?lname|printf|size|mtime|mmin|perm|type|user|group)$/.test(
        text,
      )
    ) {
      at++;
    } else {
      result.push(word);
    }
  }
  return result;
}

function gitWords(args: readonly Word[]): readonly Word[] {
  const short = "cmF";
  const { values, operands } = readOptions(args, {
    short: `${short}C`,
    long: ["message", "grep", "author", "format", "pretty"],
  });
  const given = [...(values.get("C") ?? []), ...(values.get("F") ?? [])].filter((word) => word !== undefined);
  return [
    ...given,
    ...operands.slice(1),
    ...args.filter((word) => /^--[a-z-]+=[/~.]/.test(knownStart(word))),
  ];
}

/** Programs that hand on what they are given on standard input, word by word or line by line. */
const takesInput = names("xargs parallel read mapfile readarray cpio pax tar rsync");

/** Words that the command puts out or hands on, so that another command may be given them as paths. */
export function saidWords(command: SimpleCommand): readonly Word[] {
  const { words, stdin, feeds } = command;
  const name = programName(command) ?? "";
  const said = feeds && (name === "echo" || name === "printf") ? words.slice(1) : [];
  const given = stdin.kind === "text" && (feeds || takesInput.has(name)) ? [stdin.text ?? ""] : [];
  return [...said, ...[...said.map((word) => staticText(word) ?? ""), ...given].flatMap(parts)];
}

/** What a text is to a program that reads it word by word, or line by line. */
function parts(text: string): readonly Word[] {
  return text
    .split(/\s+|\\[ntr0]/)
    .filter((part) => part !== "")
    .map(textWord);
}

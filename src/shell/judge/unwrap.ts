/** What a simple command runs beyond itself: the command behind `sudo` or `xargs`, code given to a shell, programs. */

import { codeValues } from "./code-options.ts";
import { containerCommand } from "./containers.ts";
import { type Found, foundCommand } from "./found.ts";
import { gitCode } from "./git-code.ts";
import { awkCode, sedCode } from "./inner-code.ts";
import { byInput } from "./input-code.ts";
import type { SimpleCommand } from "./parsed.ts";
import { programCode } from "./program-code.ts";
import { programName } from "./program-name.ts";
import { afterFlag, foundByFind } from "./search-command.ts";
import {
  aliasCode,
  joinedCode,
  optionCode,
  shellCode,
  sourcedCode,
  terminalCode,
  unknownCode,
} from "./shell-code.ts";
import { hiddenInNames } from "./subscripts.ts";
import { variableCode } from "./variable-code.ts";
import { knownStart, staticText, type Word } from "./word.ts";
import { wrappedCommand } from "./wrapped-command.ts";
import { interpreterOf, shells, wrapperOf } from "./wrappers.ts";

export function unwrap(command: SimpleCommand): readonly Found[] {
  if (command.keyword) return [];
  const found = variableCode(command.assignments);
  const name = programName(command);
  if (name === undefined) return found;
  const args = command.words.slice(1);
  return [
    ...found,
    ...(args.length > 0 || name === "parallel"
      ? [...valueCode(name, args), ...byProgram(name, args, command)]
      : []),
    ...byInput(name, args, command),
    ...hiddenInNames(name, args).map((suspicion) => ({ kind: "suspicion" as const, suspicion })),
  ];
}

function byProgram(name: string, args: readonly Word[], command: SimpleCommand): readonly Found[] {
  if (shells.has(name)) return shellCode(name, args);
  const container = containerCommand(name, args);
  if (container !== undefined) {
    return foundCommand(name, container.inner).map((inner) => ({ ...inner, changes: { remote: true } }));
  }
  const wrapper = wrapperOf(name);
  if (wrapper !== undefined) return wrappedCommand(name, args, wrapper);
  const interpreter = interpreterOf(name);
  if (interpreter !== undefined) return programCode(interpreter, args);
  switch (name) {
    case "eval":
      return joinedCode(name, args);
    case "trap":
    case "su":
    case "runuser":
    case "flock":
    case "nix-shell":
    case "cmd":
    case "powershell":
    case "pwsh":
      return optionCode(name, args);
    case "alias":
      return args.flatMap((arg) => aliasCode(name, arg));
    case "source":
    case ".":
      return sourcedCode(args, command);
    case "find":
      return foundByFind(args);
    case "fd":
    case "fdfind":
      return afterFlag(name, args, ["-x", "-X", "--exec", "--exec-batch"]);
    case "git":
      return gitCode(args);
    case "awk":
    case "mawk":
    case "nawk":
      return awkCode(name, args);
    case "sed":
      return sedCode(args);
    case "tmux":
    case "screen":
      return terminalCode(name, args);
    default:
      return [];
  }
}

function valueCode(name: string, args: readonly Word[]): readonly Found[] {
  return codeValues(name, args).flatMap(({ word, codeIn }) => {
    if (word === undefined) return [];
    const text = staticText(word);
    // What is known of it may show that it is no code.
    const code = codeIn(text ?? knownStart(word));
    if (code === undefined) return [];
    return text === undefined
      ? [unknownCode(name, word)]
      : [{ kind: "code" as const, via: name, text: code }];
  });
}

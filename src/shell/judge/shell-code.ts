/** Code that a program gives to a shell: `sh -c`, `eval`, `trap`, `source`, `tmux new`. */

import { type Found, foundCommand } from "./found.ts";
import { inputNames } from "./input-code.ts";
import { readOptions } from "./options.ts";
import type { SimpleCommand } from "./parsed.ts";
import { displayed, shown, staticText, type Word, whyDynamic } from "./word.ts";

export function shellCode(name: string, args: readonly Word[]): readonly Found[] {
  const { letters, names, operands } = readOptions(
    args,
    { short: "oO", long: ["rcfile", "init-file"] },
    false,
  );
  const [first] = operands;
  if (first === undefined) return [];
  if (letters.has("c") || names.includes("command")) {
    const text = staticText(first);
    return text === undefined ? [unknownCode(name, first)] : [{ kind: "code", via: name, text }];
  }
  const reason = whyDynamic(first);
  return reason === "a process substitution" || reason === "the output of a command"
    ? [unknownCode(name, first)]
    : [];
}

export function joinedCode(via: string, words: readonly Word[], remote = false, more = ""): readonly Found[] {
  const texts = words.map(staticText);
  const unknown = words[texts.indexOf(undefined)];
  if (unknown !== undefined) return [unknownCode(via, unknown)];
  return [{ kind: "code", via, text: texts.join(" ") + more, remote }];
}

export function optionCode(name: string, args: readonly Word[]): readonly Found[] {
  const flags: Readonly<Record<string, readonly string[]>> = {
    su: ["-c", "--command"],
    runuser: ["-c", "--command"],
    flock: ["-c", "--command"],
    "nix-shell": ["--run", "--command"],
    cmd: ["/c", "/k"],
    powershell: ["-c", "-command"],
    pwsh: ["-c", "-command"],
  };
  if (name === "trap") {
    const first = args.find((word) => !/^-/.test(shown(word)));
    return first === undefined ? [] : joinedCode(name, [first]);
  }
  const at = args.findIndex((word) => flags[name]?.includes((staticText(word) ?? "").toLowerCase()));
  if (at >= 0) return joinedCode(name, name === "cmd" ? args.slice(at + 1) : args.slice(at + 1, at + 2));
  if (name === "flock")
    return foundCommand(name, readOptions(args, { short: "wE" }, false).operands.slice(1));
  if (name === "runuser") return foundCommand(name, readOptions(args, { short: "ugG" }, false).operands);
  const encoded = args.find((word) => /^-e(nc|c$|ncodedcommand)/i.test(shown(word)));
  return encoded === undefined || name === "su" ? [] : [unknownCode(name, encoded)];
}

export function aliasCode(via: string, word: Word): readonly Found[] {
  const text = staticText(word);
  if (text === undefined) return [unknownCode(via, word)];
  const equals = text.indexOf("=");
  return equals < 0 ? [] : [{ kind: "code", via, text: text.slice(equals + 1) }];
}

export function sourcedCode(args: readonly Word[], { stdin }: SimpleCommand): readonly Found[] {
  const [file] = args;
  if (file === undefined) return [];
  const text = staticText(file);
  if (text !== undefined && inputNames.has(text) && stdin.kind === "text" && stdin.text !== undefined) {
    return [{ kind: "code", via: "source", text: stdin.text }];
  }
  const generated =
    whyDynamic(file) === "a process substitution" || whyDynamic(file) === "the output of a command";
  return generated || inputNames.has(text ?? "") ? [unknownCode("source", file)] : [];
}

export function terminalCode(name: string, args: readonly Word[]): readonly Found[] {
  const texts = args.map((word) => staticText(word) ?? "");
  const starts =
    name === "screen"
      ? /^-\w*[dD]m|^-X$/
      : /^(new|new-session|neww|new-window|send|send-keys|splitw|split-window|run|run-shell|respawn-pane|popup)$/;
  const at = texts.findIndex((text) => starts.test(text));
  if (at < 0) return [];
  const { operands } = readOptions(args.slice(at + 1), { short: "sntcxyFeSpl" }, false);
  return operands
    .flatMap((word) => (/\s/.test(shown(word)) ? joinedCode(name, [word]) : []))
    .concat(foundCommand(name, operands));
}

export function unknownCode(name: string, word: Word): Found {
  const why = whyDynamic(word) ?? displayed(word);
  const reason = `${name} would run ${why}, which is not known beforehand; write the command itself`;
  return { kind: "suspicion", suspicion: { rule: "dynamic-code", reason } };
}

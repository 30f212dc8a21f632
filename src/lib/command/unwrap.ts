/** What a simple command runs beyond itself: the command behind `sudo` or `xargs`, code given to a shell, programs. */

import { codeIn, codeValues } from "./code-options.ts";
import { containerCommand } from "./containers.ts";
import type { Found } from "./found.ts";
import { gitCode } from "./git-code.ts";
import { awkCode, sedCode } from "./inner-code.ts";
import { byInput, inputNames } from "./input-code.ts";
import { type Options, readOptions } from "./options.ts";
import type { SimpleCommand } from "./parsed.ts";
import { programCode } from "./program-code.ts";
import { programName } from "./program-name.ts";
import { hiddenInNames } from "./subscripts.ts";
import { cut, dynamicWord, knownStart, shown, staticText, textWord, type Word, whyDynamic } from "./word.ts";
import { interpreterOf, shells, type Wrapper, wrapperOf } from "./wrappers.ts";

/** Variables whose value some program runs. */
const codeVariables = new Set(
  [
    "PROMPT_COMMAND PS0 PS1 PS2 PS4 GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_PAGER GIT_SEQUENCE_EDITOR",
    "GIT_EXTERNAL_DIFF GIT_ASKPASS GIT_PROXY_COMMAND EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE",
    "RSYNC_RSH SYSTEMD_PAGER SYSTEMD_EDITOR SUDO_EDITOR FZF_DEFAULT_COMMAND BASH_ENV ENV",
  ].flatMap((names) => names.split(" ")),
);

/** Of these the shell runs the substitutions, and no more. */
const expanded = /^(?:PS\d|BASH_ENV|ENV)$/;

export function unwrap(command: SimpleCommand): readonly Found[] {
  if (command.keyword) return [];
  const found = command.assignments.flatMap(({ name, value }) => assigned(name, value));
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

function assigned(name: string, value: Word | undefined): readonly Found[] {
  if (!codeVariables.has(name)) return [];
  const text = staticText(value);
  if (text === undefined) {
    const isGenerated = value !== undefined && whyDynamic(value) === "a process substitution";
    return isGenerated ? [unknownCode(name, value)] : [];
  }
  // A prompt may hold variables; what it runs stands in the text. `|` and `-` are for less.
  const code = expanded.test(name) ? `: "${text}"` : text.replace(/^[|-]+/, "");
  return [{ kind: "code", via: name, text: code }];
}

function byProgram(name: string, args: readonly Word[], command: SimpleCommand): readonly Found[] {
  if (shells.has(name)) return shellCode(name, args);
  const container = containerCommand(name, args);
  if (container !== undefined) {
    return named(name, container.inner).map((inner) => ({ ...inner, changes: { remote: true } }));
  }
  const wrapper = wrapperOf(name);
  if (wrapper !== undefined) return wrapped(name, args, wrapper);
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
      return args.flatMap((arg) => afterEquals(name, arg));
    case "source":
    case ".":
      return sourced(args, command);
    case "find":
    case "gfind":
      return found(args);
    case "fd":
    case "fdfind":
      return afterFlag(name, args, ["-x", "-X", "--exec", "--exec-batch"]);
    case "git":
      return gitCode(args);
    case "awk":
    case "gawk":
    case "mawk":
    case "nawk":
      return awkCode(name, args);
    case "sed":
    case "gsed":
      return sedCode(args);
    case "tmux":
    case "screen":
      return terminalCode(name, args);
    default:
      return [];
  }
}

function shellCode(name: string, args: readonly Word[]): readonly Found[] {
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

function wrapped(name: string, args: readonly Word[], wrapper: Wrapper): readonly Found[] {
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
    return name === "script" ? [] : named(name, options.operands);

  const isIgnored = (word: Word | undefined) => name === "env" && word !== undefined && shown(word) === "-";
  // `env -` is `env -i`, and options may follow it.
  if (isIgnored(options.operands[0])) return wrapped(name, options.operands.slice(1), wrapper);
  let words = options.operands.slice(wrapper.skip ?? 0);
  const [next] = words;
  if (next !== undefined && staticText(next) === "--") words = words.slice(1);
  const from = wrapper.assignments === true ? words.findIndex((word) => !/^\w+=/.test(shown(word))) : 0;
  const outer = wrapper.assignments === true ? (from < 0 ? words : words.slice(0, from)) : [];
  const found = outer.flatMap((word) => {
    const [variable = "", value = ""] = shown(word).split(/=([\s\S]*)/);
    return assigned(variable, staticText(word) === undefined ? undefined : textWord(value));
  });
  if (from < 0) return found;
  words = words.slice(from);
  if (words.length === 0)
    return name === "parallel" ? [...found, unknownCode(name, dynamicWord("what it is given"))] : found;
  if (wrapper.code === true) return [...found, ...remoteOrLocal(name, words, wrapper)];
  if (wrapper.appends === true) {
    const given = dynamicWord(`what ${name} is given`);
    words = [...words.map((word) => withGiven(word, marks(options), given)), given];
  }
  return [...found, ...named(name, words)];
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

function named(via: string, words: readonly Word[]): readonly Extract<Found, { kind: "command" }>[] {
  return words.length === 0 ? [] : [{ kind: "command", via, words }];
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

function joinedCode(via: string, words: readonly Word[], remote = false, more = ""): readonly Found[] {
  const texts = words.map(staticText);
  const unknown = words[texts.indexOf(undefined)];
  if (unknown !== undefined) return [unknownCode(via, unknown)];
  return [{ kind: "code", via, text: texts.join(" ") + more, remote }];
}

function optionCode(name: string, args: readonly Word[]): readonly Found[] {
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
  if (name === "flock") return named(name, readOptions(args, { short: "wE" }, false).operands.slice(1));
  if (name === "runuser") return named(name, readOptions(args, { short: "ugG" }, false).operands);
  const encoded = args.find((word) => /^-e(nc|c$|ncodedcommand)/i.test(shown(word)));
  return encoded === undefined || name === "su" ? [] : [unknownCode(name, encoded)];
}

function afterEquals(via: string, word: Word): readonly Found[] {
  const text = staticText(word);
  if (text === undefined) return [unknownCode(via, word)];
  const equals = text.indexOf("=");
  return equals < 0 ? [] : [{ kind: "code", via, text: text.slice(equals + 1) }];
}

function sourced(args: readonly Word[], { stdin }: SimpleCommand): readonly Found[] {
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

function found(args: readonly Word[]): readonly Found[] {
  const results: Found[] = [];
  for (let at = 0; at < args.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(staticText(args[at]) ?? "")) continue;
    const end = args.findIndex((word, index) => index > at && /^[;+]$/.test(staticText(word) ?? ""));
    const inner = args.slice(at + 1, end < 0 ? undefined : end);
    results.push(...named("find", inner.map(withFoundPath)));
    if (end < 0) break;
    at = end;
  }
  return results;
}

/** `{}` is the path of a file that find came upon; it begins with where find was told to look. */
function withFoundPath(word: Word): Word {
  return staticText(word)?.includes("{}") === true ? dynamicWord("the files that find comes upon") : word;
}

function afterFlag(via: string, args: readonly Word[], flags: readonly string[]): readonly Found[] {
  const at = args.findIndex((word) => flags.includes(staticText(word) ?? ""));
  if (at < 0) return [];
  const inner = args.slice(at + 1).map(withFoundPath);
  const placed = inner.some((word) => staticText(word) === undefined);
  return named(via, placed ? inner : [...inner, dynamicWord(`the files that ${via} comes upon`)]);
}

function terminalCode(name: string, args: readonly Word[]): readonly Found[] {
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
    .concat(named(name, operands));
}

function valueCode(name: string, args: readonly Word[]): readonly Found[] {
  return codeValues(name, args).flatMap((word) => {
    if (word === undefined) return [];
    const text = staticText(word);
    // What is known of it may show that it is no code.
    const code = codeIn(name, text ?? knownStart(word));
    if (code === undefined) return [];
    return text === undefined
      ? [unknownCode(name, word)]
      : [{ kind: "code" as const, via: name, text: code }];
  });
}

function unknownCode(name: string, word: Word): Found {
  const why = whyDynamic(word) ?? `"${shown(word)}"`;
  const reason = `${name} would run ${why}, which is not known beforehand; write the command itself`;
  return { kind: "suspicion", suspicion: { rule: "dynamic-code", reason } };
}

function dynamicCommand(name: string, word: Word): Found {
  const reason = `what ${name} would run depends on ${whyDynamic(word) ?? "an expansion"}; write the command itself`;
  return { kind: "suspicion", suspicion: { rule: "dynamic-command", reason } };
}

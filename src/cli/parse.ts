/** From an argument list to a command and its options. */

import { parseArgs } from "node:util";
import type { GlobalFlags } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import { nearest } from "../lib/nearest.ts";
import { type Command, type CommandContext, type OptionSpec, textOption } from "./command.ts";
import { aliases, commands } from "./registry.ts";

/** The options that every command takes. */
export const globalOptions: Readonly<Record<string, OptionSpec>> = {
  config: { type: "string", short: "c", value: "FILE", about: "use this configuration file" },
  workspace: { type: "string", short: "w", value: "FOLDER", about: "use this workspace" },
  verbose: { type: "boolean", about: "log what happens to stderr" },
  help: { type: "boolean", short: "h", about: "show help" },
};

export interface Invocation {
  /** The words that led to the command: `["sessions", "show"]`; empty for the program itself. */
  readonly words: readonly string[];
  readonly command: Command | undefined;
  readonly help: boolean;
  readonly flags: GlobalFlags;
  readonly positionals: CommandContext["positionals"];
  readonly options: CommandContext["options"];
}

/** Splits options off the front, where only global ones can stand. */
function leadingOptions(args: readonly string[]): number {
  const withValue = Object.entries(globalOptions)
    .filter(([, { type }]) => type === "string")
    .flatMap(([name, { short }]) => [`--${name}`, ...(short ? [`-${short}`] : [])]);
  let count = 0;
  while (args[count]?.startsWith("-")) count += withValue.includes(args[count] ?? "") ? 2 : 1;
  return Math.min(count, args.length);
}

function unknown(kind: string, word: string, candidates: readonly string[], help: string): UserError {
  const suggestion = nearest(word, candidates);
  const hint = suggestion === undefined ? `Run "${help}" for the list` : `Did you mean "${suggestion}"?`;
  return new UserError(`Unknown ${kind} "${word}"`, { hint });
}

async function loadCommand(name: string): Promise<Command> {
  const load = Object.hasOwn(commands, aliases[name] ?? name) ? commands[aliases[name] ?? name] : undefined;
  if (load === undefined) {
    throw unknown("command", name, [...Object.keys(commands), ...Object.keys(aliases)], "nanobot --help");
  }
  return (await load()).command;
}

/** Throws a `UserError` for what nobody declared, with the nearest thing somebody did. */
export async function parseInvocation(argv: readonly string[]): Promise<Invocation> {
  const lead = leadingOptions(argv);
  const before = argv.slice(0, lead);
  let rest = argv.slice(lead);
  if (rest[0] === "help") rest = [...rest.slice(1), "--help"];
  const words: string[] = [];
  let command: Command | undefined;
  const [name] = rest;
  if (name !== undefined && !name.startsWith("-")) {
    command = await loadCommand(name);
    words.push(name);
    rest = rest.slice(1);
  }
  while (command?.subcommands && rest[0] !== undefined && !rest[0].startsWith("-")) {
    const sub: string = rest[0];
    const known: Readonly<Record<string, Command>> = command.subcommands;
    if (!Object.hasOwn(known, sub)) {
      throw unknown(
        "command",
        `${words.join(" ")} ${sub}`,
        subcommandNames(words, known),
        `nanobot ${words.join(" ")} --help`,
      );
    }
    command = known[sub];
    words.push(sub);
    rest = rest.slice(1);
  }
  const { values, positionals } = parseOptions([...before, ...rest], command, words);
  return {
    words,
    command,
    help: values["help"] === true,
    flags: {
      config: textOption(values, "config"),
      workspace: textOption(values, "workspace"),
      verbose: values["verbose"] === true,
    },
    positionals,
    options: Object.fromEntries(
      Object.entries(values).filter(([option]) => !Object.hasOwn(globalOptions, option)),
    ),
  };
}

function subcommandNames(words: readonly string[], known: Readonly<Record<string, Command>>): string[] {
  return Object.keys(known).map((name) => `${words.join(" ")} ${name}`);
}

function parseOptions(args: readonly string[], command: Command | undefined, words: readonly string[]) {
  const specs = { ...globalOptions, ...command?.options };
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { type, short, multiple = false }]) => [
      name,
      { type, multiple, ...(short ? { short } : {}) },
    ]),
  );
  const help = ["nanobot", ...words, "--help"].join(" ");
  try {
    const { values, positionals } = parseArgs({
      args: withNegativeNumbers(args, specs),
      options,
      allowPositionals: true,
      strict: true,
    });
    if (values["help"] !== true) checkPositionals(positionals, command, help);
    return { values, positionals };
  } catch (error) {
    if (error instanceof UserError || !(error instanceof TypeError)) throw error;
    throw explainParseError(error, Object.keys(specs), help);
  }
}

/** As `--limit=-1` and `-m-1`: the parser would take a number below zero for another option. */
function withNegativeNumbers(args: readonly string[], specs: Readonly<Record<string, OptionSpec>>): string[] {
  const withValue = Object.entries(specs).filter(([, { type }]) => type === "string");
  const long = withValue.map(([name]) => `--${name}`);
  const short = withValue.flatMap(([, spec]) => (spec.short ? [`-${spec.short}`] : []));
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const joined: string[] = [];
  for (const [index, arg] of args.entries()) {
    const before = joined.at(-1) ?? "";
    const glue = long.includes(before) ? "=" : short.includes(before) ? "" : undefined;
    if (index < end && /^-\d/.test(arg) && glue !== undefined)
      joined[joined.length - 1] = before + glue + arg;
    else joined.push(arg);
  }
  return joined;
}

function explainParseError(error: TypeError, names: readonly string[], help: string): UserError {
  const flag = /Unknown option '(-[^']*)'/.exec(error.message)?.[1];
  if (flag !== undefined)
    return unknown(
      "option",
      flag,
      names.map((name) => `--${name}`),
      help,
    );
  const valueless = /^Option '(-[^']*)' argument is ambiguous/.exec(error.message)?.[1];
  if (valueless !== undefined) {
    const glue = valueless.startsWith("--") ? "=" : "";
    return new UserError(`Missing the value of "${valueless}"`, {
      hint: `Write ${valueless}${glue}VALUE when it begins with "-"`,
    });
  }
  // The first sentence says what is wrong with which option; what follows is about the parser.
  const [sentence = error.message] = error.message.split(/\.\s|\n/);
  return new UserError(sentence.replaceAll("'", '"').replace(/\.$/, ""), {
    hint: `Run "${help}" for its options`,
  });
}

function checkPositionals(positionals: readonly string[], command: Command | undefined, help: string): void {
  const wanted = command?.positionals ?? [];
  const required = wanted.filter((name) => !name.endsWith("?"));
  const missing = required[positionals.length];
  if (missing !== undefined)
    throw new UserError(`Missing ${missing.replace("...", "")}`, { hint: `Run "${help}" to see what it is` });
  if (wanted.at(-1)?.endsWith("...")) return;
  const extra = positionals[wanted.length];
  if (extra !== undefined && command?.run !== undefined) {
    throw new UserError(`Unexpected argument "${extra}"`, { hint: `Run "${help}" to see what it takes` });
  }
}

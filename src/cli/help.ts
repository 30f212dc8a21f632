/** Help, made from the command table. */

import type { Command, OptionSpec } from "./command.ts";
import { globalOptions } from "./parse.ts";
import { aliases, commands } from "./registry.ts";

type Row = readonly [string, string];

function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}

function section(title: string, rows: readonly Row[]): string {
  return rows.length === 0 ? "" : `\n${title}:\n${table(rows)}\n`;
}

function optionRow([name, { short, value, about, multiple }]: [string, OptionSpec]): Row {
  const left = `${short ? `-${short}, ` : "    "}--${name}${value ? ` ${value}` : ""}`;
  return [left, multiple ? `${about}; can be given several times` : about];
}

function optionRows(options: Readonly<Record<string, OptionSpec>>): Row[] {
  return Object.entries(options).map(optionRow);
}

async function programHelp(): Promise<string> {
  const rows = await Promise.all(
    Object.entries(commands).map(async ([name, load]): Promise<Row> => {
      const others = Object.keys(aliases).filter((alias) => aliases[alias] === name);
      const also = others.length > 0 ? ` (also: ${others.join(", ")})` : "";
      return [name, `${(await load()).command.about}${also}`];
    }),
  );
  return [
    "nanobot: a personal AI agent in one executable\n",
    "\nUsage: nanobot COMMAND [OPTIONS]\n",
    section("Commands", rows),
    section("Options", [...optionRows(globalOptions), ["-v, --version", "show the version"]]),
    '\n"nanobot COMMAND --help" tells more about one of them.\n',
  ].join("");
}

/** Help for the command that `words` name, or for the program. */
export async function help(words: readonly string[], command: Command | undefined): Promise<string> {
  if (command === undefined) return programHelp();
  const { about, positionals = [], options = {}, subcommands = {} } = command;
  const places = positionals.map((name) => (name.endsWith("?") ? `[${name.slice(0, -1)}]` : name));
  const usage = ["nanobot", ...words, ...(command.run ? places : ["COMMAND"]), "[OPTIONS]"].join(" ");
  const rows = Object.entries(subcommands).map(([name, sub]): Row => {
    const own = (sub.positionals ?? []).map((place) =>
      place.endsWith("?") ? `[${place.slice(0, -1)}]` : place,
    );
    return [[name, ...own].join(" "), sub.about];
  });
  return [
    `${about}\n`,
    `\nUsage: ${usage}\n`,
    section("Commands", rows),
    section("Options", [...optionRows(options), ...optionRows(globalOptions)]),
  ].join("");
}

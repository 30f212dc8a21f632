/** The hosts that git is told to speak to, without their schemes. */

import { gitOptions } from "./git-code.ts";
import { names } from "./names.ts";
import { readOptions } from "./options.ts";
import type { Word } from "./word.ts";

/** Subcommands whose first operand is a repository. */
const reaching = names("clone fetch pull push ls-remote");

const longOptions = (
  "branch origin config depth jobs reference separate-git-dir template upload-pack receive-pack exec filter " +
  "shallow-since shallow-exclude server-option push-option refmap negotiation-tip repo"
).split(" ");

const SETTING_OF_PROXY = /^[^=]*proxy=(.*)$/is;

export function gitAddresses(args: readonly Word[], textsOf: (word: Word | undefined) => readonly string[]) {
  const { values, operands } = readOptions(args, gitOptions, false);
  const [subcommand] = textsOf(operands[0]);
  const rest = readOptions(operands.slice(1), {
    short: subcommand === "clone" ? "bocju" : "oj",
    long: longOptions,
    exact: true,
  });
  const settings = [
    values.get("c"),
    ...(subcommand === "clone" ? [rest.values.get("c")] : []),
    rest.values.get("config"),
  ];
  return [
    ...settings
      .flatMap((words) => (words ?? []).flatMap(textsOf))
      .flatMap((text) => SETTING_OF_PROXY.exec(text)?.[1] ?? []),
    ...repositories(subcommand ?? "", rest.operands.map(textsOf)).flatMap(hostOf),
  ];
}

function repositories(subcommand: string, operands: readonly (readonly string[])[]): readonly string[] {
  const [first = [], second = [], third = []] = operands;
  if (reaching.has(subcommand)) return first;
  if (subcommand === "config")
    return first.some((name) => /proxy$/i.test(name)) ? second.map((one) => `x://${one}`) : [];
  if (subcommand === "submodule") return first.includes("add") ? second : [];
  return subcommand === "remote" && first.some((one) => /^(?:add|set-url)$/.test(one)) ? third : [];
}

/** `scheme://host/path`, and `user@host:path` as of scp. Everything else is a name or a path. */
function hostOf(repository: string): readonly string[] {
  const [, after] = /^(?!file:)[a-z][a-z\d+.-]*:\/\/(.*)$/is.exec(repository) ?? [];
  if (after !== undefined) return [after];
  const [, host] = /^((?:[^/:]*@)?(?:\[[^\]/]*\]|[^/:[]+)):/s.exec(repository) ?? [];
  return host === undefined || /^[a-z]$/i.test(host) || repository.includes("://") ? [] : [host];
}

/** What git is told to run: aliases, editors, pagers, hooks given on the command line. */

import type { Code } from "./found.ts";
import { type OptionSpec, readOptions } from "./options.ts";
import type { Assignment } from "./parsed.ts";
import { staticText, textWord, type Word } from "./word.ts";

/** Settings whose value git gives to a shell. */
const codeSettings =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass)|sequence\.editor|pager\..+|credential\.(?:.+\.)?helper|diff\.(?:external|.+\.(?:command|textconv))|(?:merge|diff)tool\..+\.cmd|filter\..+\.(?:clean|smudge|process)|gpg\.program|uploadpack\..+|init\.templatedir)$/i;

/** Of git itself, before its subcommand. */
export const gitOptions: OptionSpec = {
  short: "cC",
  long: ["git-dir", "work-tree", "namespace", "super-prefix", "config-env", "attr-source"],
  exact: true,
};

export function gitCode(args: readonly Word[]): readonly Code[] {
  const { values, operands } = readOptions(args, gitOptions, false);
  const settings = (values.get("c") ?? []).map((word) => staticText(word) ?? "");
  const found = settings.flatMap((setting) => {
    const [name = "", value = ""] = setting.split(/=([\s\S]*)/);
    return settingCode(name, value);
  });
  const [subcommand, ...rest] = operands.map((word) => staticText(word) ?? "");
  return [...found, ...subcommandCode(subcommand ?? "", rest)];
}

/** Settings that git takes from variables: a key and a value with one number, or all of them in one text. */
export function gitVariableCode(assignments: readonly Assignment[]): readonly Code[] {
  const texts = new Map(assignments.map(({ name, value }) => [name, staticText(value)]));
  return [...texts].flatMap(([variable, text = ""]) => {
    if (variable === "GIT_CONFIG_PARAMETERS") {
      return [...text.matchAll(/'([^'=]+)'?='?([^']*)'/g)].flatMap(([, name = "", value = ""]) =>
        settingCode(name, value),
      );
    }
    const number = /^GIT_CONFIG_VALUE_(\d+)$/.exec(variable)?.[1];
    if (number === undefined) return [];
    const name = texts.get(`GIT_CONFIG_KEY_${number}`);
    // The key may be set elsewhere, and then the value may be any kind of code.
    return name === undefined
      ? ["core.pager", "alias.x"].flatMap((key) =>
          settingCode(key, text).map((found) => ({ ...found, supposed: true })),
        )
      : settingCode(name, text);
  });
}

function settingCode(name: string, value: string): readonly Code[] {
  if (/^alias\./i.test(name)) return value.startsWith("!") ? [code(value.slice(1))] : [code(`git ${value}`)];
  return codeSettings.test(name) && value !== "" ? [code(value.replace(/^!/, ""))] : [];
}

function subcommandCode(subcommand: string, rest: readonly string[]): readonly Code[] {
  switch (subcommand) {
    case "config": {
      const at = rest.findIndex((word) => /^alias\./i.test(word) || codeSettings.test(word));
      return at < 0 ? [] : settingCode(rest[at] ?? "", rest[at + 1] ?? "");
    }
    case "submodule": {
      const at = rest.indexOf("foreach");
      return at < 0
        ? []
        : [
            code(
              rest
                .slice(at + 1)
                .filter((word) => !word.startsWith("--"))
                .join(" "),
            ),
          ];
    }
    case "grep":
      return rest.flatMap(
        (word) => /^(?:-O|--open-files-in-pager=)([\s\S]+)$/.exec(word)?.slice(1).map(code) ?? [],
      );
    case "bisect":
      return rest[0] === "run" ? [code(rest.slice(1).join(" "))] : [];
    case "clone":
    case "fetch":
    case "pull":
    case "push":
    case "ls-remote":
    case "archive":
      return transportCode(subcommand, rest);
    case "rebase":
    case "filter-branch":
    case "difftool":
      return rest.flatMap((word, index) => {
        const inline = /^--(?:exec?|(?:tree|index|msg|env)-filter|extcmd)=([\s\S]*)$/.exec(word)?.[1];
        if (inline !== undefined) return [code(inline)];
        const takes = /^(?:-x|--exec?|--(?:tree|index|msg|env)-filter|--extcmd)$/.test(word);
        return takes ? [code(rest[index + 1] ?? "")] : [];
      });
    default:
      return [];
  }
}

/** What git runs to reach the other side, and addresses that are commands. */
function transportCode(subcommand: string, rest: readonly string[]): readonly Code[] {
  const words = rest.map(textWord);
  const { values, operands } = readOptions(words, {
    short: subcommand === "clone" ? "ubocj" : "",
    long: ["upload-pack", "receive-pack", "exec", "config"],
  });
  const texts = (...options: readonly string[]) =>
    options.flatMap((option) => (values.get(option) ?? []).flatMap((word) => staticText(word) ?? []));
  return [
    ...texts("u", "upload-pack", "receive-pack", "exec").map(code),
    ...(subcommand === "clone" ? texts("c", "config") : []).flatMap((setting) => {
      const [name = "", value = ""] = setting.split(/=([\s\S]*)/);
      return settingCode(name, value);
    }),
    ...operands.flatMap(
      (word) =>
        /^ext::(.+)$/s
          .exec(staticText(word) ?? "")
          ?.slice(1)
          .map(code) ?? [],
    ),
  ];
}

function code(text: string): Code {
  return { kind: "code", via: "git", text };
}

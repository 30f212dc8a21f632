/** The rules that every simple command is held against, in one place. */

import {
  judgeFind,
  judgeFoundDeletion,
  judgeGit,
  judgeRm,
  judgeSynchronised,
  judgeWindowsDelete,
} from "./delete-rules.ts";
import type { Finding } from "./finding.ts";
import type { Opaque, ParsedCommand, SimpleCommand } from "./parsed.ts";
import { programName } from "./program-name.ts";
import type { Scene } from "./scene.ts";
import {
  judgeCrontab,
  judgeDd,
  judgeDisk,
  judgeHistory,
  judgeKill,
  judgePermissions,
  judgePower,
  judgeWritten,
  wipesHistory,
} from "./system-rules.ts";
import { displayed, shown, staticText, type Word, whyDynamic } from "./word.ts";
import { writtenWords } from "./written-words.ts";

/** `fromWords`: what the owner's pattern for the command, which sees its words, can set aside. */
export type RuleFinding = Finding & { readonly fromWords: boolean };

export async function judgeCommandRules(
  command: SimpleCommand,
  scene: Scene,
  parsed: ParsedCommand,
): Promise<readonly RuleFinding[]> {
  const findings: RuleFinding[] = [];
  for (const finding of await judgeRedirects(command, scene)) findings.push({ ...finding, fromWords: false });
  for (const { name, value } of command.assignments) {
    if (name === "HISTFILE" || (/^HIST(?:FILE)?SIZE$/.test(name) && staticText(value) === "0")) {
      findings.push({
        rule: "history",
        reason: `${name} would hide what is done; leave it as it is`,
        fromWords: false,
      });
    }
  }
  const [first] = command.words;
  if (first === undefined || command.keyword) return findings;
  const name = programName(command);
  if (name === undefined) {
    const why = whyDynamic(first) ?? "an expansion";
    const reason = `the program ${displayed(first)} is not known beforehand (${why}); write its name`;
    return [...findings, { rule: "dynamic-command", reason, fromWords: false }];
  }
  const remote = command.remote && !parsed.functions.has(name);
  for (const finding of await judgeProgram(name, command.words.slice(1), command, scene, remote)) {
    if (finding !== undefined) findings.push({ ...finding, fromWords: true });
  }
  return findings;
}

async function judgeProgram(
  name: string,
  args: readonly Word[],
  { via }: SimpleCommand,
  scene: Scene,
  remote: boolean,
): Promise<readonly (Finding | undefined)[]> {
  const general = [
    judgePower(name, args),
    judgeKill(name, args),
    judgeDisk(name, args),
    judgeHistory(name, args),
    judgeWindowsDelete(name, args),
  ];
  const special = await judgeSpecial(name, args, scene, remote);
  const findings = [judgeFoundDeletion(name, via), special, ...general].filter(
    (finding) => finding !== undefined,
  );
  if (findings.length > 0 || remote) return findings;
  return Promise.all(writtenWords(name, args).map((word) => judgeWritten(word, scene, name)));
}

async function judgeSpecial(
  name: string,
  args: readonly Word[],
  scene: Scene,
  remote: boolean,
): Promise<Finding | undefined> {
  switch (name) {
    case "rm":
      return judgeRm(args, scene, remote);
    case "find":
      return judgeFind(args);
    case "rsync":
      return judgeSynchronised(args, scene, remote);
    case "git":
      return judgeGit(args);
    case "dd":
      return judgeDd(args);
    case "crontab":
      return judgeCrontab(args);
    case "chmod":
    case "chown":
    case "chgrp":
    case "setfacl":
    case "chattr":
      return judgePermissions(name, args, scene);
    case "hash":
    case "enable":
      return args.some((word) => /^-\w*[pf]/.test(shown(word)))
        ? { rule: "dynamic-command", reason: `${name} would give a program another name; call it by its own` }
        : undefined;
    default:
      return undefined;
  }
}

async function judgeRedirects(
  { redirects, remote }: SimpleCommand,
  scene: Scene,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { target, writes } of redirects) {
    if (/^\/dev\/(?:tcp|udp)\//.test(shown(target)) || writes) {
      if (wipesHistory(target))
        findings.push({
          rule: "history",
          reason: `${displayed(target)} is a record of what was done; leave it as it is`,
        });
      const finding = remote ? undefined : await judgeWritten(target, scene, "writing to");
      if (finding !== undefined) findings.push(finding);
    }
  }
  return findings;
}

/** A function that comes back to itself and multiplies on the way is a fork bomb, whatever it is called. */
export function judgeWhole(parsed: ParsedCommand): readonly Finding[] {
  const { commands, functions } = parsed;
  const calls = new Map<string, Set<string>>();
  const multiplying = new Set<string>();
  for (const command of commands) {
    const called = staticText(command.words[0]) ?? "";
    if (!functions.has(called)) continue;
    for (const caller of command.within) {
      calls.set(caller, (calls.get(caller) ?? new Set()).add(called));
      if (command.concurrent) multiplying.add(caller);
    }
  }
  const bomb = [...multiplying].find((name) => reaches(calls, name, name));
  const findings = judgeAliases(parsed);
  if (bomb === undefined) return findings;
  return [
    ...findings,
    {
      rule: "fork-bomb",
      reason: `the function "${bomb}" starts itself again and again, which is a fork bomb`,
    },
  ];
}

/** The words behind an alias complete its text, which may make another command of it. */
function judgeAliases({ commands, variables }: ParsedCommand): readonly Finding[] {
  const names = new Set(
    commands
      .filter((command) => programName(command) === "alias")
      .flatMap(({ words }) => words.slice(1).map((word) => shown(word).split("=", 1)[0] ?? "")),
  );
  const used = commands.map(({ words }) => staticText(words[0]) ?? "").find((name) => names.has(name));
  const table = ["BASH_ALIASES", "BASH_CMDS"].find((name) => variables.has(name));
  if (used === undefined && table === undefined) return [];
  const reason = `"${used ?? table}" is an alias, whose meaning depends on what follows; write the command itself`;
  return [{ rule: "dynamic-command", reason }];
}

function reaches(calls: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const pending = [...(calls.get(from) ?? [])];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === to) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    pending.push(...(calls.get(name) ?? []));
  }
  return false;
}

/** What gives away a destructive program in another language. It is a hint: such programs are not understood. */
const giveaways: readonly {
  readonly pattern: RegExp;
  readonly rule: Finding["rule"];
  readonly what: string;
}[] = [
  { pattern: /\brm\W{1,6}-\w*[rRf]|\brm\s+--(?:rec|fo)/, rule: "recursive-delete", what: "runs rm" },
  {
    pattern:
      /\b(?:rmtree|remove_tree|rm_rf|rm_r|delete-directory|remove_entry_secure|removeSync|remove_dir_all|rimraf)\b/,
    rule: "recursive-delete",
    what: "deletes folders",
  },
  {
    pattern: /\brm(?:Sync)?\s*\([^()]{0,400}(?:\([^()]{0,200}\)[^()]{0,200})?recursive/,
    rule: "recursive-delete",
    what: "deletes folders",
  },
  {
    pattern: /\b(?:os\.fork|fork)\s*(?:\(\s*\)|while|until|;|\})|\bfork\s+while/,
    rule: "fork-bomb",
    what: "starts itself again",
  },
  {
    // A word alone in quotes, or behind a call; in a sentence it is a word.
    pattern:
      /(?:system|exec\w*|popen|spawn\w*|run|call|check_\w+|qx|[;&|`])\W{0,6}(?:sudo\W{1,4})?(?:[\w/]*\/)?(?:shutdown|reboot|poweroff|halt)\b|^\s*(?:sudo )?(?:shutdown|reboot|poweroff|halt)\b/im,
    rule: "power",
    what: "stops the machine",
  },
  { pattern: /\/dev\/(?:sd|hd|vd|nvme|xvd|mmcblk|disk)/, rule: "device-write", what: "touches a disk" },
  { pattern: /\bmkfs\b|\bwipefs\b/, rule: "disk", what: "makes file systems" },
];

export function judgeOpaque({ language, text }: Opaque): readonly Finding[] {
  if (text === undefined) {
    return [
      {
        rule: "dynamic-code",
        reason: `the ${language} program is put together at run time; write it to a file and run that`,
      },
    ];
  }
  const found = giveaways.find(({ pattern }) => pattern.test(text));
  return found === undefined
    ? []
    : [
        {
          rule: found.rule,
          reason: `the ${language} program ${found.what}; do that with plain commands, which can be judged`,
        },
      ];
}

/** The rules that every simple command is held against, in one place. */

import { TOOL_MARK } from "../../lib/tool-mark.ts";
import {
  judgeFind,
  judgeFoundDeletion,
  judgeGit,
  judgeRm,
  judgeSynchronised,
  judgeWindowsDelete,
} from "./delete-rules.ts";
import type { Finding } from "./finding.ts";
import { hidesTool, judgeOwnProgram } from "./own-program.ts";
import type { ParsedCommand, SimpleCommand } from "./parsed.ts";
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
    if (name === TOOL_MARK) findings.push({ ...hidesTool, fromWords: false });
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
  const own = await judgeOwnProgram(name, command, scene, parsed);
  return own === undefined ? findings : [...findings, { ...own, fromWords: true }];
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

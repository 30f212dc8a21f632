/** Whether a shell command may run: the parsed command against a policy. A judgement, not a sandbox. */

import type { CommandPolicy } from "../../core/commands.ts";
import { clip } from "../../lib/text.ts";
import { checkPaths } from "./check-paths.ts";
import { type Finding, finalRules, type Rule } from "./finding.ts";
import { hearsay } from "./hearsay.ts";
import { judgeCommandRules, judgeWhole } from "./judge-rules.ts";
import { names } from "./names.ts";
import { checkOpaque } from "./opaque-paths.ts";
import { judgeOpaque } from "./opaque-rules.ts";
import { parseCommand } from "./parse-command.ts";
import type { ParsedCommand, SimpleCommand } from "./parsed.ts";
import { compilePatterns, type Patterns } from "./patterns.ts";
import { readsProfiles } from "./profile-readers.ts";
import { programName } from "./program-name.ts";
import { createScene, type SceneOptions } from "./scene.ts";
import { parsedUrls, textUrls } from "./urls.ts";
import { shown } from "./word.ts";

export interface JudgeOptions extends SceneOptions {
  readonly policy: CommandPolicy;
  /** Regular expressions that must match the whole of a simple command. */
  readonly allowPatterns: readonly string[];
  /** Regular expressions that must match nowhere in it. */
  readonly denyPatterns: readonly string[];
  readonly restrictToWorkspace: boolean;
}

export type Judgement = Seen &
  (
    | { readonly verdict: "allow" }
    | {
        readonly verdict: "deny" | "ask";
        /** For the model: what is wrong and what would be allowed. */
        readonly reason: string;
        readonly rule: Rule;
      }
  );

/** What the text alone does not decide. */
interface Seen {
  readonly urls: readonly string[];
  /** A shell in it reads the profile files first. */
  readonly readsProfiles: boolean;
}

/** Rejects only with what is wrong here. `urls` are the http(s) addresses in the command, for the network guard. */
export async function judgeCommand(text: string, options: JudgeOptions): Promise<Judgement> {
  const { policy } = options;
  const patterns = compilePatterns(options);
  if ("broken" in patterns) {
    const reason = `the pattern "${patterns.broken}" in tools.exec is not a regular expression; the owner has to mend it`;
    return { verdict: "deny", rule: "bad-pattern", reason, urls: textUrls(text), readsProfiles: false };
  }
  const result = await parseCommand(text);
  if (result.kind === "refused") {
    // Where nothing is judged, what nobody understands runs too, unless the owner's patterns deny it.
    const reason = `the command cannot be judged: ${result.reason}; write it more simply`;
    const findings: readonly Finding[] =
      policy === "off" ? deniedBy(patterns, text, []) : [{ rule: "unreadable", reason }];
    return { ...decide(findings, policy), urls: textUrls(text), readsProfiles: false };
  }
  const { parsed } = result;
  const scene = createScene(options, parsed);
  const urls = parsedUrls(text, parsed, scene);
  const findings =
    policy === "off"
      ? deniedBy(patterns, text, parsed.commands)
      : await collectFindings(text, parsed, options, patterns, scene);
  return { ...decide(findings, policy), urls, readsProfiles: parsed.commands.some(readsProfiles) };
}

function deniedBy(patterns: Patterns, text: string, commands: readonly SimpleCommand[]): readonly Finding[] {
  const denied = patterns.whichDenies(text, commands);
  if (denied === undefined) return [];
  return [{ rule: "deny-pattern", reason: `the command matches the owner's pattern "${denied}"` }];
}

async function collectFindings(
  text: string,
  parsed: ParsedCommand,
  { policy, restrictToWorkspace: restrict }: JudgeOptions,
  patterns: Patterns,
  scene: ReturnType<typeof createScene>,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [...deniedBy(patterns, text, parsed.commands)];
  const report = (finding: Finding) => findings.push(finding);

  for (const suspicion of [...parsed.suspicions, ...judgeWhole(parsed)]) report(suspicion);
  for (const opaque of parsed.opaque) {
    for (const finding of judgeOpaque(opaque)) report(finding);
    await checkOpaque(opaque, { scene, restrict, report });
  }
  const heard = hearsay(parsed.commands, scene);
  for (const command of parsed.commands) {
    scene.lookAt(command);
    scene.stepTo(command);
    const allowed = patterns.allows(command);
    // Paths first: they take note of where `cd` leads.
    await checkPaths(command, { scene, restrict, heard, report });
    for (const finding of await judgeCommandRules(command, scene, parsed)) {
      if (!(allowed && finding.fromWords)) report(finding);
    }
    if (policy !== "guarded" && !allowed && needsPattern(command, parsed, policy))
      report(notAllowed(command, patterns));
  }
  return findings;
}

/** Builtins of the shell that run no program and change no file. */
const harmlessBuiltins = names(
  ": true false echo printf cd pwd test [ export set unset local declare readonly read shift return exit wait let break continue",
);

/** Variables that decide what the programs are that an allowed name runs. */
const steering = /^(?:PATH|BASH_ENV|ENV|LD_\w+|DYLD_\w+)$/;
/** Those of the builtins that set a variable which is named by a word. */
const setsNamed = names("read printf");

function needsPattern(command: SimpleCommand, { functions }: ParsedCommand, policy: CommandPolicy): boolean {
  if (command.keyword) return false;
  const steered = command.assignments.some(({ name }) => steering.test(name));
  if (command.words.length === 0)
    return steered || (policy === "allowlist" && command.assignments.length > 0);
  const name = programName(command) ?? "";
  if (functions.has(name) && command.via.length === 0) return false;
  if (policy === "allowlist" || !harmlessBuiltins.has(name)) return true;
  return steered || (setsNamed.has(name) && command.words.some((word) => steering.test(shown(word))));
}

/** Of a command in a message. */
const LONGEST_SHOWN = 200;

function notAllowed(command: SimpleCommand, { shownCommand, listed }: Patterns): Finding {
  const known = listed === "" ? "no command is" : `these are: ${listed}`;
  return {
    rule: "not-allowed",
    reason: `"${clip(shownCommand(command), LONGEST_SHOWN)}" is not among the allowed commands; ${known}`,
  };
}

function decide(
  findings: readonly Finding[],
  policy: CommandPolicy,
): { verdict: "allow" } | { verdict: "deny" | "ask"; reason: string; rule: Rule } {
  const final = findings.find(({ rule }) => finalRules.has(rule));
  const dangerous = findings.find(({ rule }) => !finalRules.has(rule) && rule !== "not-allowed");
  const first = policy === "ask" ? (final ?? dangerous ?? findings[0]) : (dangerous ?? final ?? findings[0]);
  if (first === undefined) return { verdict: "allow" };
  const verdict = policy === "ask" && !finalRules.has(first.rule) ? "ask" : "deny";
  return { verdict, ...first };
}

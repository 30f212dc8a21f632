/** Refuses commands that run this program or end it: who may do what is for the owner to say, and not for a command. */

import { UserError } from "../../core/errors.ts";
import { createLineMatcher } from "../../lib/regex/automaton.ts";
import { parsePattern } from "../../lib/regex/parse.ts";
import { TOOL_MARK } from "../../lib/tool-mark.ts";
import { type Finding, finding } from "./finding.ts";
import { names } from "./names.ts";
import { readOptions } from "./options.ts";
import type { ParsedCommand, SimpleCommand } from "./parsed.ts";
import { programName } from "./program-name.ts";
import type { Scene } from "./scene.ts";
import { shown, staticText, textWord, type Word } from "./word.ts";
import { shells } from "./wrappers.ts";

const OWN_NAME = "nanobot";

/** What a process of it is called, and what its command line may be: patterns are held against these. */
const processes = [
  OWN_NAME,
  `/${OWN_NAME} gateway`,
  `${OWN_NAME} gateway`,
  `${OWN_NAME} run`,
  `${OWN_NAME} agent`,
];

/** They change nothing, and show nothing that is anybody's. */
const questions = names("--help -h --version -v");

const filters = names("grep egrep fgrep rg");
const finders = names("pgrep pidof", ...filters);

const managers = names(
  "systemctl service rc-service sv supervisorctl pm2 launchctl brew docker docker-compose podman nerdctl kubectl",
);
const endings = names(
  "stop restart try-restart condrestart reload-or-restart try-reload-or-restart force-stop force-restart force-reload kill",
  "kickstart pause down rm remove delete disable mask unload bootout shutdown freeze clean scale",
);

/** As a unit, a label or a container is named: `nanobot.service`, `gui/501/org.example.nanobot`. */
const ownUnit = /(?:^|[./=])nanobot(?:$|[.@:])/i;

/** What sets or takes away a variable that is named by a word. */
const setters = names("unset export declare typeset local readonly env");

export async function judgeOwnProgram(
  name: string,
  command: SimpleCommand,
  scene: Scene,
  parsed: ParsedCommand,
): Promise<Finding | undefined> {
  const args = command.words.slice(1);
  if (await runsUs(name, command, scene)) {
    return asksOnly(args)
      ? undefined
      : ownProgram(
          `${OWN_NAME} is for the owner to run, not for a command; use the tools you have for that, or tell the user what to run`,
        );
  }
  if (endsUs(name, args, scene) || (findsUs(name, command, scene) && parsed.commands.some(killsUnknown))) {
    return ownProgram(
      `${name} would reach ${OWN_NAME} itself, without which no command runs; tell the user if it has to end`,
    );
  }
  return setters.has(name) && args.some((word) => shown(word).includes(TOOL_MARK)) ? hidesTool : undefined;
}

const ownProgram = (reason: string) => finding("own-program", reason);

export const hidesTool: Finding = ownProgram(
  `${TOOL_MARK} tells ${OWN_NAME} that a command runs it; leave it as it is`,
);

const isOurs = (text: string) => programName({ words: [textWord(text)] }) === OWN_NAME;

async function runsUs(name: string, { words, remote }: SimpleCommand, scene: Scene): Promise<boolean> {
  const program = readsScript(name) ? scriptOf(name, words.slice(1)) : words[0];
  if (program === undefined) return false;
  for (const { text, whole } of scene.read(program)) {
    if (isOurs(text)) return true;
    // A link may have any name.
    if (!whole || remote || !text.includes("/")) continue;
    const places = await scene.places(text);
    if (places?.some(({ path }) => isOurs(path)) === true) return true;
  }
  return false;
}

const readsScript = (name: string) => shells.has(name) || name === "source" || name === ".";

/** The file that a shell is given, which may be the script that starts us from source. */
function scriptOf(name: string, args: readonly Word[]): Word | undefined {
  if (!shells.has(name)) return args[0];
  const { operands, letters } = readOptions(args, { short: "oO", long: ["rcfile", "init-file"] }, false);
  return letters.has("c") ? undefined : operands[0];
}

const asksOnly = (args: readonly Word[]) => args.length === 1 && questions.has(staticText(args[0]) ?? "");

function endsUs(name: string, args: readonly Word[], scene: Scene): boolean {
  if (name === "pkill") return matchUs(args, scene);
  if (name === "killall") {
    const takesPattern = args.some((word) => /^-[a-zA-Z]*r|^--regexp/.test(shown(word)));
    return takesPattern ? matchUs(args, scene) : areOurs(args, scene);
  }
  return (
    managers.has(name) &&
    args.some((word) => endings.has(staticText(word) ?? "")) &&
    texts(args, scene).some((text) => ownUnit.test(text))
  );
}

/** Its output says which processes are ours. */
function findsUs(name: string, { words, feeds }: SimpleCommand, scene: Scene): boolean {
  if (!feeds || !finders.has(name)) return false;
  const args = words.slice(1);
  if (name === "pidof") return areOurs(args, scene);
  // What lets every line through looks for something else: `grep -o '[0-9]*'`.
  const telling = filters.has(name) ? args.filter((word) => !matchesAny(shown(word), [""])) : args;
  return matchUs(telling, scene);
}

/** Of what another command found: the ids themselves say nothing. */
function killsUnknown(command: SimpleCommand): boolean {
  const args = command.words.slice(1);
  const onlyAsks = args.some((word) => /^-[0lL]$/.test(shown(word)));
  return programName(command) === "kill" && !onlyAsks && args.some((word) => staticText(word) === undefined);
}

const texts = (args: readonly Word[], scene: Scene) =>
  args.flatMap((word) => scene.read(word).map(({ text }) => text));

const areOurs = (args: readonly Word[], scene: Scene) => texts(args, scene).some(isOurs);

/** Whichever of them is the pattern: users and groups, by which processes are chosen too, may have our name. */
function matchUs(args: readonly Word[], scene: Scene): boolean {
  return texts(args, scene).some((text) =>
    text.startsWith("-") ? text.includes(OWN_NAME) : matchesUs(text),
  );
}

function matchesUs(pattern: string): boolean {
  // Where we lie is not known here, nor what we were given: `pkill -f '/home/user/bin/nanobot -c x'`.
  const file = pattern.split(/\s/, 1)[0] ?? "";
  const end = pattern.slice(pattern.lastIndexOf("/") + 1);
  return isOurs(file) || [pattern, end].some((one) => one !== "" && matchesAny(one, processes));
}

function matchesAny(pattern: string, lines: readonly string[]): boolean {
  try {
    const matcher = createLineMatcher(parsePattern(pattern, { ignoreCase: true }));
    return lines.some((line) => matcher.matches(line));
  } catch (error) {
    // No pattern for us, and maybe one for the program.
    if (error instanceof UserError) return true;
    throw error;
  }
}

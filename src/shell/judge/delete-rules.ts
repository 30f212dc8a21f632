/** What destroys data: recursive and forced deletion, overwriting of devices and of the system. */

import { isInside } from "../../lib/inside.ts";
import { type Finding, finding } from "./finding.ts";
import { gitOptions } from "./git-code.ts";
import { names } from "./names.ts";
import { hasLong, type Options, readOptions } from "./options.ts";
import type { Scene } from "./scene.ts";
import { displayed, knownStart, shown, staticText, type Word, whyDynamic } from "./word.ts";

const ALLOWED = "a plain rm -r of a literal path below the workspace is allowed";

/** Why a folder may not be deleted whole; `undefined` where it may. */
async function whyNotTarget(word: Word, scene: Scene, remote: boolean): Promise<string | undefined> {
  if (remote) return "it is on another machine";
  for (const { text, whole, glob, why } of scene.read(word)) {
    if (!whole) return `it depends on ${why ?? "an expansion"}`;
    if (glob) return "it is a file name pattern";
    const places = await scene.places(text);
    if (places === undefined || scene.movedUnknown) return "it is not known where that leads";
    for (const { path } of places) {
      if (path === scene.workspace) return "it is the workspace itself";
      if (path === scene.temporaryFolder) return "it is the folder of all temporary files";
      const isOwn = isInside(scene.workspace, path) || isTemporary(path, scene);
      if (!isOwn) return "it is outside the workspace";
    }
  }
  return undefined;
}

const isTemporary = (path: string, { temporaryFolder }: Scene) =>
  temporaryFolder !== undefined && isInside(temporaryFolder, path);

export async function judgeRm(
  args: readonly Word[],
  scene: Scene,
  remote: boolean,
): Promise<Finding | undefined> {
  const options = readOptions(args);
  const recursive = options.letters.has("r") || options.letters.has("R") || hasLong(options, "recursive");
  const forced = options.letters.has("f") || hasLong(options, "force");
  if (hasLong(options, "no-preserve-root"))
    return finding("recursive-delete", `rm without protection of the root is refused; ${ALLOWED}`);
  if (recursive && forced) return finding("recursive-delete", `rm is both recursive and forced; ${ALLOWED}`);
  const unclear = whichCouldBeOption(options, scene);
  if (unclear !== undefined) {
    const [what, why] = [displayed(unclear), whyDynamic(unclear) ?? "not known"];
    const fix = `${forced ? "leave out -f and " : ""}write -- before the names, or name the files`;
    return finding(
      recursive ? "recursive-delete" : "delete",
      `${what} could be an option of rm${what === why ? "" : ` (it is ${why})`}; ${fix}`,
    );
  }
  if (!recursive && !forced) return undefined;
  for (const target of options.operands) {
    const why = await whyNotTarget(target, scene, remote);
    if (why === undefined) continue;
    const [how, instead] = recursive ? ["recursive", ALLOWED] : ["forced", "leave out -f, or name the files"];
    return finding(
      recursive ? "recursive-delete" : "delete",
      `${displayed(target)} cannot be deleted by a ${how} rm: ${why}; ${instead}`,
    );
  }
  return undefined;
}

/** A variable may hold an option, unless everything it is set to in the text is known and is none. */
function whichCouldBeOption({ unclear }: Options, scene: Scene): Word | undefined {
  return unclear.find((word) =>
    scene
      .read(word)
      .some(({ text, whole }) => text.startsWith("-") || (text === "" && !whole) || /\s/.test(text)),
  );
}

export function judgeFind(args: readonly Word[]): Finding | undefined {
  const deletes = args.some((word) => staticText(word) === "-delete");
  return deletes
    ? finding(
        "find-delete",
        `find -delete removes what it comes upon; list the files first, then delete them by name`,
      )
    : undefined;
}

const finders = names("find fd fdfind");

/** `rm` behind find, where the names come from the search. */
export function judgeFoundDeletion(name: string, via: readonly string[]): Finding | undefined {
  if (!["rm", "unlink"].includes(name) || !finders.has(via.at(-1) ?? "")) return undefined;
  return finding(
    "find-delete",
    `${via.at(-1)} would delete what it comes upon; list the files first, then delete them by name`,
  );
}

export async function judgeSynchronised(
  args: readonly Word[],
  scene: Scene,
  remote: boolean,
): Promise<Finding | undefined> {
  if (!args.some((word) => /^--del|^--remove-source/.test(knownStart(word)))) return undefined;
  const target = readOptions(args, { short: "efT" }).operands.at(-1);
  const why = target === undefined ? "there is no target" : await whyNotTarget(target, scene, remote);
  return why === undefined
    ? undefined
    : finding(
        "recursive-delete",
        `rsync --delete empties its target, and ${why}; synchronise into a folder below the workspace`,
      );
}

/** Windows' own: `del /f`, `rd /s`, `Remove-Item -Recurse`. */
export function judgeWindowsDelete(name: string, args: readonly Word[]): Finding | undefined {
  const texts = args.map((word) => shown(word).toLowerCase());
  const strong =
    ((name === "del" || name === "erase") && texts.some((text) => /^\/[fqs]/.test(text))) ||
    ((name === "rd" || name === "rmdir") && texts.some((text) => /^\/[sq]/.test(text))) ||
    ((name === "remove-item" || name === "ri") && texts.some((text) => /^-(?:r|fo)/.test(text)));
  return strong
    ? finding("recursive-delete", `${name} is recursive or forced; delete single files by name`)
    : undefined;
}

export function judgeGit(args: readonly Word[]): Finding | undefined {
  const { operands } = readOptions(args, gitOptions, false);
  const subcommand = staticText(operands[0]);
  const options = readOptions(operands.slice(1), { short: "e" });
  if (subcommand === "rm") return judgeGitRm(options);
  // Without force git refuses by itself, unless a setting lets it.
  if (subcommand !== "clean" || options.letters.has("n") || hasLong(options, "dry-run")) return undefined;
  return finding(
    "recursive-delete",
    "git clean deletes every untracked file; git clean -n shows them, rm deletes them by name",
  );
}

/** Without force git keeps what is not committed. */
function judgeGitRm(options: Options): Finding | undefined {
  const recursive = options.letters.has("r");
  const forced = options.letters.has("f") || hasLong(options, "force");
  if (!recursive || !forced || hasLong(options, "cached", 2)) return undefined;
  return finding("recursive-delete", "git rm is both recursive and forced; leave out -f");
}

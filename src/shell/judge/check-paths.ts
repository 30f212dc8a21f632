/** Refuses commands that reach outside the workspace or into the agent's own state. */

import { readMembers } from "./archives.ts";
import type { Finding } from "./finding.ts";
import { followCd, goesHome } from "./follow-cd.ts";
import type { Heard } from "./hearsay.ts";
import { names } from "./names.ts";
import { runsOwnScript } from "./own-scripts.ts";
import type { SimpleCommand } from "./parsed.ts";
import { pathTexts, type Role } from "./path-texts.ts";
import { judgeUse, outside, programFolder, unknownPlace } from "./path-use.ts";
import { pathWords, readers, saidWords } from "./path-words.ts";
import { programName, withoutVersion } from "./program-name.ts";
import { isPermitted, type Scene } from "./scene.ts";
import { displayed, homeWord, knownStart, shown, textWord, type Word } from "./word.ts";
import { writtenWords } from "./written-words.ts";

const inspectors = names("test [ [[ ls file stat readlink realpath ldd nm strings sha256sum md5sum");

/** Programs that take or leave with them whole folders. */
const takesFolders = names("mv rmdir chmod chown chgrp rsync ln");

/** Programs that put into a folder what has a name elsewhere. */
const fillsFolders = names("cp install scp sftp tar bsdtar cpio pax unzip 7z 7za 7zr unar gunzip wget");

export type Report = (finding: Finding) => void;

export interface PathCheck {
  readonly scene: Scene;
  /** Whether places outside the workspace are refused. */
  readonly restrict: boolean;
  /** What is done to the paths that commands put out. */
  readonly heard: Heard;
  readonly report: Report;
}

export async function checkPaths(
  command: SimpleCommand,
  { scene, restrict, heard, report }: PathCheck,
): Promise<void> {
  if (command.remote) return;
  const name = programName(command);
  const args = command.words.slice(1);
  const isFunction = name !== undefined && scene.isFunction(name);

  const recursiveRm = name === "rm" && args.some((word) => /^(?:-\w*[rR]|--r)/.test(knownStart(word)));

  if (restrict) await checkProgram(command, scene, report);
  for (const { name: variable, value } of command.assignments) {
    // Separators of words.
    if (value !== undefined && variable !== "IFS")
      await checkWord(value, false, variable === "PATH" ? "search-path" : "assignment");
  }
  for (const { target, writes } of command.redirects) await checkWord(target, writes, "file");
  if (heard !== undefined)
    for (const word of saidWords(command)) await checkWord(word, heard === "written", "argument");
  if (name === undefined) return;

  const runs = !isFunction && (await runsOwnScript(name, command.words, scene));
  const written = writtenWords(name, args);
  const writtenTexts = new Set(written.map(shown));
  const members = isFunction ? new Set() : readMembers(name, args);
  const reads = !isFunction && (readers.has(name) || name === "cp" || name === "rsync");
  for (const word of isFunction ? args : pathWords(name, args)) {
    const isWritten = writtenTexts.has(shown(word));
    await checkWord(word, isWritten || !(reads || members.has(word)), "argument", runs && !isWritten);
  }
  for (const word of written) await checkWord(word, true, "file");
  if (goesHome(name, args)) await checkWord(homeWord, false, "argument");
  const unseen = await followCd(command, name, args, scene);
  if (unseen !== undefined && restrict) report(unknownPlace(unseen, ""));

  async function checkWord(word: Word, writes: boolean, as: Role, isRun = false): Promise<void> {
    const program = as === "argument" || as === "file" ? (name ?? "") : "";
    const goes = program === "cd" || program === "pushd";
    for (const { text, whole, climbs, isGuess } of pathTexts(scene, word, as, program)) {
      const places = climbs ? undefined : await (goes ? scene.placesToGo(text) : scene.places(text));
      if (places === undefined) {
        if (restrict && !isGuess) report(unknownPlace(displayed(word), text));
        continue;
      }
      for (const place of places) {
        const takesFolder = whole && writes && (takesFolders.has(program) || recursiveRm);
        const inspects = !writes && inspectors.has(program);
        const fillsFolder = fillsFolders.has(program);
        const what = displayed(word);
        const use = { place, what, writes, runs: isRun, takesFolder, fillsFolder, inspects };
        const finding = judgeUse(use, scene, restrict && !isGuess);
        if (finding !== undefined) report(finding);
      }
    }
  }
}

const isInstalled = (path: string) => programFolder.test(path) || /^\/(?:usr|opt|snap|nix)\//.test(path);

/** A link is judged by its own name, and may only be called what the program is, but for a version. */
function isSameProgram(link: string, program: string): boolean {
  const nameOf = (path: string) => withoutVersion(programName({ words: [textWord(path)] }) ?? "");
  return nameOf(link) === nameOf(program);
}

/** A program may lie where programs lie, in the workspace, or be linked from there, as in a virtualenv. */
async function checkProgram({ words, keyword }: SimpleCommand, scene: Scene, report: Report): Promise<void> {
  const [first] = words;
  if (first === undefined || keyword) return;
  for (const { text, whole } of scene.read(first)) {
    if (!whole || !text.includes("/")) continue;
    const places = await scene.places(text);
    const isFine = places?.every(
      ({ path }) => isPermitted(path, scene) || (isInstalled(path) && isSameProgram(text, path)),
    );
    if (isFine === true || (isInstalled(text) && !text.split("/").includes(".."))) continue;
    report(outside(displayed(first)));
  }
}

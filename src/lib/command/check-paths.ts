/** Refuses commands that reach outside the workspace or into the agent's own state. */

import { isInside } from "../inside.ts";
import { segmentMatches } from "./file-patterns.ts";
import type { Finding } from "./finding.ts";
import { followCd } from "./follow-cd.ts";
import { opaquePaths } from "./opaque-paths.ts";
import type { Opaque, SimpleCommand } from "./parsed.ts";
import { pathTexts, type Role } from "./path-texts.ts";
import { pathWords, readers, saidWords } from "./path-words.ts";
import { programName } from "./program-name.ts";
import { climbs, isPermitted, overlap, type Place, type Scene } from "./scene.ts";
import { knownStart, shown, type Word } from "./word.ts";
import { writtenWords } from "./written-words.ts";

/** Device files that hold nothing of anybody's. */
const harmlessDevice =
  /^\/dev\/(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd(?:\/\d+)?)$|^\/proc\/self\/fd\/\d+$/;

/** Where programs live: they may be run, asked for and looked at, but not changed. */
const programFolder = /^\/(?:usr\/(?:local\/)?|opt\/homebrew\/)?s?bin(?:\/|$)|^\/nix\/store\//;

const inspectors = new Set(
  "test [ [[ ls file stat readlink realpath ldd nm strings sha256sum md5sum".split(" "),
);

/** Programs that take or leave with them whole folders. */
const takesFolders = new Set("mv rmdir chmod chown chgrp rsync ln".split(" "));

interface Use {
  readonly place: Place;
  readonly shown: string;
  readonly writes: boolean;
  readonly takesFolder: boolean;
  readonly inspects: boolean;
}

type Report = (finding: Finding) => void;

/** `heard`: some command is given paths that are not known, and may be given what others put out. */
export async function checkPaths(
  command: SimpleCommand,
  scene: Scene,
  restrict: boolean,
  heard: Heard,
  report: Report,
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

  const written = writtenWords(name, args);
  const writtenTexts = new Set(written.map(shown));
  const reads = !isFunction && (readers.has(name) || name === "cp" || name === "rsync");
  for (const word of isFunction ? args : pathWords(name, args)) {
    await checkWord(word, writtenTexts.has(shown(word)) || !reads, "argument");
  }
  for (const word of written) await checkWord(word, true, "file");
  const unseen = await followCd(command, name, args, scene);
  if (unseen !== undefined && restrict) report(outside(unseen));

  async function checkWord(word: Word, writes: boolean, as: Role): Promise<void> {
    const program = as === "argument" || as === "file" ? (name ?? "") : "";
    const goes = program === "cd" || program === "pushd";
    for (const { text, whole, climbs, isGuess } of pathTexts(scene, word, as, program)) {
      const places = climbs ? undefined : await (goes ? scene.placesToGo(text) : scene.places(text));
      if (places === undefined) {
        if (restrict && !isGuess) report(outside(shown(word)));
        continue;
      }
      for (const place of places) {
        const takesFolder = whole && writes && (takesFolders.has(program) || recursiveRm);
        const inspects = !writes && inspectors.has(program);
        const use = { place, shown: shown(word), writes, takesFolder, inspects };
        checkUse(use, scene, restrict && !isGuess, report);
      }
    }
  }
}

/** What is done to paths that the text does not name where they are used. */
export type Heard = "read" | "written" | undefined;

export function hearsay(commands: readonly SimpleCommand[], scene: Scene): Heard {
  let heard: Heard;
  for (const command of commands) {
    if (command.keyword || command.remote) continue;
    scene.lookAt(command);
    const name = programName(command) ?? "";
    const args = command.words.slice(1);
    const written = [
      ...writtenWords(name, args),
      ...command.redirects.flatMap((one) => (one.writes ? one.target : [])),
    ];
    if (written.some(isUnknown)) return "written";
    const used = [...pathWords(name, args), ...command.redirects.map(({ target }) => target)];
    if (used.some(isUnknown)) {
      if (!readers.has(name)) return "written";
      heard = "read";
    }
  }
  return heard;

  function isUnknown(word: Word): boolean {
    return scene.read(word).some(({ whole }) => !whole);
  }
}

/** The text literals of a program in another language, as far as they look like paths. */
export async function checkOpaque(
  { language, text = "" }: Opaque,
  scene: Scene,
  restrict: boolean,
  report: Report,
) {
  for (const { text: literal, isRooted } of opaquePaths(text)) {
    const places = await scene.places(literal.replace(/^~(?=\/|$)/, scene.home ?? "~"));
    for (const place of places ?? []) {
      const use: Use = { place, shown: literal, writes: true, takesFolder: false, inspects: false };
      checkUse(use, scene, restrict && isRooted, report);
    }
    if (places === undefined && isRooted && restrict)
      report(outside(`${literal}, in the ${language} program,`));
  }
}

function checkUse(use: Use, scene: Scene, restrict: boolean, report: Report): void {
  const { place, writes } = use;
  if (showsProcess(place)) {
    report({
      rule: "own-state",
      reason: `"${use.shown}" shows what a process holds, keys among it; printenv shows what commands are given`,
    });
    return;
  }
  const owner = ownState(use, scene);
  if (owner !== undefined) {
    const verb = owner.allows === "nothing" ? "read or changed" : "changed";
    report({
      rule: "own-state",
      reason: `"${use.shown}" is the agent's own state, which commands must not have ${verb}; use the tool made for it`,
    });
    return;
  }
  if (!restrict || harmlessDevice.test(place.path)) return;
  if (isPermitted(place.path, scene) && !climbs(place, scene.dotted)) return;
  if (use.inspects && !writes && programFolder.test(`${place.path}/`)) return;
  report(outside(use.shown));
}

/** The protected path that this use breaks. */
function ownState({ place, writes, takesFolder }: Use, { protectedPaths, workspace, dotted }: Scene) {
  // A folder that is made for a protected file alone: what is put there may be that file.
  const isOwnFolder = writes && place.path !== workspace && isInside(workspace, place.path);
  const touched = protectedPaths
    .filter(({ path }) => {
      const how = overlap(place, path, dotted);
      return how === "within" || (how === "around" && (takesFolder || isOwnFolder));
    })
    .sort((one, other) => other.path.length - one.path.length);
  const [closest] = touched;
  if (closest === undefined) return undefined;
  // A pattern can reach what lies beside a permitted folder too.
  if (place.pattern.length > 0 && !isInside(closest.path, place.path)) {
    return touched.find(({ allows }) => writes || allows === "nothing");
  }
  return closest.allows === "nothing" || writes ? closest : undefined;
}

/** Where the system shows the environment or the memory of processes, the agent's among them. */
function showsProcess({ path, pattern }: Place): boolean {
  const [top, ...below] = [...path.split("/").filter((segment) => segment !== ""), ...pattern];
  const last = below.at(-1);
  return (
    top === "proc" &&
    last !== undefined &&
    below.length > 1 &&
    ["environ", "mem"].some((name) => segmentMatches(last, name, true))
  );
}

function outside(path: string): Finding {
  return {
    rule: "outside-workspace",
    reason: `${quoted(path)} is outside the workspace; commands may use paths below the workspace, and relative ones are the best`,
  };
}

const quoted = (path: string) => (path.includes(", in the") ? path : `"${path}"`);

/** A program may lie where programs lie, or in the workspace. */
async function checkProgram({ words, keyword }: SimpleCommand, scene: Scene, report: Report): Promise<void> {
  const [first] = words;
  if (first === undefined || keyword) return;
  for (const { text, whole } of scene.read(first)) {
    if (!whole || !text.includes("/")) continue;
    const places = await scene.places(text);
    const fine = places?.every(({ path }) => isPermitted(path, scene)) === true;
    if (!fine && !programFolder.test(text) && !/^\/(?:usr|opt|snap|nix)\//.test(text)) report(outside(text));
    if (text.split("/").includes("..") && !fine) report(outside(text));
  }
}

/** Takes note of the folders that a command goes to, or has a program go to. */

import type { SimpleCommand } from "./parsed.ts";
import type { Scene } from "./scene.ts";
import { cut, homeWord, knownStart, shown, staticText, type Word } from "./word.ts";

/** `cd` alone. */
export const goesHome = (name: string, args: readonly Word[]) =>
  name === "cd" && targetOf(args) === undefined;

const targetOf = (args: readonly Word[]) => args.find((word) => !/^-(?:[LPe@n]+|-)$/.test(shown(word)));

/** Answers with a folder that the words do not name, in quotes. */
export async function followCd(
  command: SimpleCommand,
  name: string,
  args: readonly Word[],
  scene: Scene,
): Promise<string | undefined> {
  if (name === "cd" || name === "pushd" || name === "popd") {
    const target = targetOf(args);
    if (goesHome(name, args)) await enterAll(homeWord, scene, isGate(command, scene));
    else if (name === "cd" && target !== undefined && shown(target) === "-") {
      return scene.goBack(isGate(command, scene)) ? undefined : '"-"';
    } else if (name === "popd" || target === undefined || /^[+-]\d*$/.test(shown(target))) {
      await scene.enter(undefined);
      return target !== undefined && shown(target) === "-" ? '"-"' : undefined;
    } else await enterAll(target, scene, isGate(command, scene) || (await isCertain(command, args, scene)));
    return undefined;
  }
  for (const [index, word] of args.entries()) {
    const start = knownStart(word);
    if (/^(?:-C|--directory|--chdir|--cwd|--prefix)$/.test(staticText(word) ?? "")) {
      const next = args[index + 1];
      if (next !== undefined) await enterAll(next, scene);
    }
    const inline = /^--(?:directory|chdir|cwd|prefix)=/.exec(start)?.[0] ?? /^-C(?=.)/.exec(start)?.[0];
    if (inline !== undefined) await enterAll(cut(word, inline.length), scene);
  }
  return undefined;
}

/** A program of the name, or one that another starts, moves nobody. */
const isBuiltin = ({ words, via }: SimpleCommand, { plainCd }: Scene) =>
  plainCd &&
  !shown(words[0] ?? homeWord).includes("/") &&
  via.every((one) => /^(?:builtin|command)$/.test(one));

const isGate = (command: SimpleCommand, scene: Scene) =>
  command.certainty === "gate" && isBuiltin(command, scene);

/** What follows runs even if it fails: the folder has to be there, and nothing before it may have changed that. */
async function isCertain(command: SimpleCommand, args: readonly Word[], scene: Scene): Promise<boolean> {
  const { certainty, redirects } = command;
  const text = args.length === 1 && args[0]?.glob === false ? staticText(args[0]) : undefined;
  if (certainty !== "always" || redirects.length > 0 || text === undefined || text === "") return false;
  return isBuiltin(command, scene) && scene.isUntouched(command) && (await scene.canEnter(text));
}

async function enterAll(word: Word, scene: Scene, definite = false): Promise<void> {
  const readings = scene.read(word);
  for (const { text, whole } of readings) {
    await scene.enter(whole ? text : undefined, definite && readings.length === 1);
  }
}

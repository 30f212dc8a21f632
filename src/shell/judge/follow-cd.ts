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
  { definite }: SimpleCommand,
  name: string,
  args: readonly Word[],
  scene: Scene,
): Promise<string | undefined> {
  if (name === "cd" || name === "pushd" || name === "popd") {
    const target = targetOf(args);
    if (goesHome(name, args)) await enterAll(homeWord, scene, definite);
    else if (name === "popd" || target === undefined || /^[+-]\d*$/.test(shown(target))) {
      await scene.enter(undefined);
      return target !== undefined && shown(target) === "-" ? '"-"' : undefined;
    } else await enterAll(target, scene, definite);
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

async function enterAll(word: Word, scene: Scene, definite = false): Promise<void> {
  const readings = scene.read(word);
  for (const { text, whole } of readings) {
    await scene.enter(whole ? text : undefined, definite && readings.length === 1);
  }
}

/** Recognises commands that run a script of ours: what they are given of ours they only read. */

import { isInside } from "../../lib/inside.ts";
import { names } from "./names.ts";
import { withoutVersion } from "./program-name.ts";
import type { Scene } from "./scene.ts";
import { knownStart, type Word } from "./word.ts";

/** Programs that are given a script, and what that is to work on. */
const runners = names("sh bash dash ksh ash . source python pypy");

/** The code stands on the line, comes from a module or from the input: none of it is known to leave alone what it is given. */
const ELSEWHERE = /^-(?:[a-zA-Z]*[cms]|$)/;

/** What is run: the program itself, or what a runner is given. */
function scriptOf(name: string, [program, ...args]: readonly Word[]): Word | undefined {
  if (!runners.has(name) && !runners.has(withoutVersion(name))) return program;
  for (const word of args) {
    const text = knownStart(word);
    if (ELSEWHERE.test(text)) return undefined;
    if (!text.startsWith("-")) return word;
  }
  return undefined;
}

/** `words` are all of the command, whose program is called `name`. */
export async function runsOwnScript(name: string, words: readonly Word[], scene: Scene): Promise<boolean> {
  const own = scene.protectedPaths.filter(({ allows }) => allows === "running");
  const script = scriptOf(name, words);
  const texts = script === undefined || own.length === 0 ? [] : scene.read(script);
  for (const { text, whole } of texts) {
    // A program is looked for where programs lie, unless a folder is named.
    const isPlace = whole && (script !== words[0] || text.includes("/"));
    const places = isPlace ? await scene.places(text) : undefined;
    if (!places?.every(({ path }) => own.some((one) => isInside(one.path, path)))) return false;
  }
  return texts.length > 0;
}
